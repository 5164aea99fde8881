"""The recordings of a call: found in folders or taken from standard input, each with the path of its transcript."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.chat.files import media_name
from lsa_whisper.errors import AudioError, LsaWhisperError, printable
from lsa_whisper.system import disk
from lsa_whisper.system.files import FailedFile
from lsa_whisper.system.own_files import verify_inside
from lsa_whisper.system.terminal import print_progress

Jobs: TypeAlias = Sequence[tuple[Path, Path]]
"""Recordings with the paths of their transcripts."""

Recordings: TypeAlias = Mapping[Path, Recording | AudioError]
"""The opened recordings by path, or why they cannot be opened."""


def find_jobs(
    inputs: Sequence[Path | str], out: Path | str | None, *, closed: list[FailedFile] | None = None
) -> Iterator[tuple[Path, Path]]:
    """Yield each recording once, with the path of its transcript.

    Folders in ``inputs`` are searched. Transcripts go to ``out``, where subfolders are kept, or next to the audio if it
    is absent. ``closed`` gets the folders that cannot be searched.

    Raises:
        LinkError: A transcript would be written outside ``out``, because of a link.
    """
    failed = closed if closed is not None else []
    folder = Path(out) if out else None
    jobs: dict[tuple[str, str], tuple[Path, Path]] = {}
    for audio, target in (job for path in map(Path, inputs) for job in _jobs_of(path, folder, failed)):
        jobs.setdefault((os.path.normpath(audio.absolute()), os.path.normpath(target.absolute())), (audio, target))
    yield from jobs.values()


def _jobs_of(source: Path, out: Path | None, closed: list[FailedFile]) -> Iterator[tuple[Path, Path]]:
    if not _is_folder(source):
        yield source, (out or source.parent) / f"{source.stem}.cha"
        return

    def note_closed(error: OSError) -> None:
        folder = Path(error.filename)
        reason = f"{folder}: this folder cannot be searched ({error.strerror}); check its permissions"
        closed.append(FailedFile(folder, reason))

    folders = os.walk(source, onerror=note_closed)  # unlike Path.rglob, it reports folders that cannot be read
    for audio in sorted(Path(folder, name) for folder, _, names in folders for name in names):
        if audio.suffix.lower() in AUDIO_SUFFIXES and not audio.name.startswith("."):
            place = out / audio.relative_to(source) if out else audio
            verify_inside(place, out or source)
            yield audio, place.with_name(f"{audio.stem}.cha")
        elif not audio.suffix and not audio.name.startswith(".") and isinstance(_open(audio, audio, None), Recording):
            note = f"{audio}: a recording without a suffix such as .wav is left out; name it to transcribe it, too"
            print_progress(printable(note))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # the name is too long, or the folder cannot be read: reported when it is opened
        return False


def open_recordings(jobs: Jobs, channel: int | None) -> Recordings:
    """Return the recording of each job, or why it cannot be transcribed.

    ``channel`` is the one to transcribe, from 0; ``None`` for all.
    """
    return {audio: _open(audio, target, channel) for audio, target in jobs}


def _open(audio: Path, target: Path, channel: int | None) -> Recording | AudioError:
    try:
        recording = Recording.open(audio, channel=channel)
    except AudioError as error:
        return error
    except OSError as error:
        return AudioError(f"{audio}: cannot be read ({error.strerror}); check the path and its permissions")
    name = media_name(audio.stem)
    if target.stem == media_name(target.stem):
        return recording
    return AudioError(
        f"{audio}: CLAN cannot read this name in @Media; change the setting, or rename the recording to "
        f"{name}{audio.suffix} (--rename-media leaves it as it is and writes {name}.cha)"
    )


STANDARD_INPUT = Path("-")


@contextmanager
def spool_standard_input(inputs: Sequence[Path], out: Path | None) -> Iterator[tuple[list[Path], Path | None]]:
    """Give the inputs with a temporary file in place of ``-``, and the folder for the transcripts.

    Without another input and without a folder, the transcript goes into a temporary folder, too, from which the caller
    prints it.

    Raises:
        AudioError: Standard input is a terminal, or empty.
        LsaWhisperError: Other recordings are given with ``-``, but no folder for the transcripts.
    """
    if STANDARD_INPUT not in inputs:
        yield list(inputs), out
        return
    if len(inputs) > 1 and out is None:
        raise LsaWhisperError("- is standard input, whose transcript needs a folder beside other recordings; give -o")
    if sys.stdin.isatty():
        raise AudioError("- is standard input, which is the terminal; pipe a recording into the command")
    with TemporaryDirectory() as folder:
        spool = Path(folder, "stdin")
        with disk.convert_disk_errors(spool), spool.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if not spool.stat().st_size:
            raise AudioError("- is standard input, which is empty; check the command before the pipe")
        yield [spool if path == STANDARD_INPUT else path for path in inputs], out or Path(folder, "transcripts")
