"""Which recording belongs to a transcript, where its result is written, whether that is finished, and what failed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lsa_whisper import chat
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.chat.files import is_transcript
from lsa_whisper.corpus.files import RecordingIndex
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import AudioError, CorpusError, DiskError, LsaWhisperError
from lsa_whisper.system.files import FailedFile, list_files, paths_of
from lsa_whisper.system.own_files import verify_inside
from lsa_whisper.version import __version__

OUT_FOLDER = "aligned"
"""Name of the folder next to a transcript that its result is written to by default."""
FileResult = TypeVar("FileResult")


@dataclass(frozen=True)
class AlignmentJob:
    """A transcript, its recordings to choose from, and where its result is written."""

    transcript: Path
    target: Path


def find_transcripts(
    transcripts: Sequence[Path | str] | Path | str,
    *,
    audio: Path | None,
    out: Path | None,
    in_place: bool = False,
    folder: str = OUT_FOLDER,
) -> list[AlignmentJob]:
    """Return each transcript once, with the path of its result: in ``out``, or in a ``folder`` next to the transcript.

    Raises:
        LinkError: A result would be written outside the given folders, because of a link.
        CorpusError: A path does not exist or holds no transcript, two results would have one path, or ``audio`` is
            one recording for several transcripts.
    """
    inputs = paths_of(transcripts)
    jobs: dict[Path, AlignmentJob] = {}
    roots = {transcript: place for place in inputs for transcript in _transcripts(place, folder)}
    for (path, within), root in roots.items():
        target = path if in_place else (out or path.parent / folder) / within / f"{path.stem}.cha"
        verify_inside(target, out or (root if root.is_dir() else root.parent))
        if target in jobs:
            raise CorpusError(f"{path}: its result would replace that of {jobs[target].transcript}; rename one")
        if target.exists() and not in_place and target.samefile(path):
            raise CorpusError(f"{path}: its result would replace it; choose another folder, or set `in_place=True`")
        jobs[target] = AlignmentJob(path, target)
    if not jobs:
        raise CorpusError("no transcript was found; name folders of .cha files, or .cha and .txt files themselves")
    if audio is not None and not audio.is_dir() and len(jobs) > 1:
        raise CorpusError(f"{audio}: one recording for {len(jobs)} transcripts; name a folder of recordings")
    return list(jobs.values())


def attempt_each(
    jobs: Sequence[AlignmentJob], work: Callable[[AlignmentJob], FileResult]
) -> tuple[tuple[FileResult, ...], tuple[FailedFile, ...]]:
    """Return the results of ``work`` and the transcripts that failed, which do not stop the others.

    Raises:
        LsaWhisperError: The disk fails, or the only transcript does.
    """
    results: list[FileResult] = []
    failures: list[FailedFile] = []
    for job in jobs:
        try:
            results.append(work(job))
        except DiskError:
            raise
        except LsaWhisperError as error:
            if len(jobs) == 1:
                raise
            failures.append(FailedFile(job.transcript, str(error)))
    return tuple(results), tuple(failures)


def _transcripts(place: Path, folder: str) -> Iterator[tuple[Path, Path]]:
    if not place.exists():
        raise CorpusError(f"{place}: no such transcript; check the path")
    if place.is_file():
        if place.suffix.lower() in AUDIO_SUFFIXES:
            raise CorpusError(f"{place}: this is a recording; name its transcript, and the recording with `audio`")
        if not (is_transcript(place) or is_plain_text(place)):
            raise CorpusError(
                f"{place}: is neither CHAT (.cha) nor plain text (.txt); 'lsa-whisper convert' makes CHAT"
            )
        yield place, Path()
        return
    for path in list_files(place)[0]:
        if is_transcript(path) and folder not in path.relative_to(place).parts[:-1]:
            yield path, path.parent.relative_to(place)


def find_recording(job: AlignmentJob, transcript: Transcript | None, audio: Path | None) -> Recording:
    """Return the recording of a transcript: the named file, or the one whose name is that of ``@Media`` or the file.

    ``audio`` is a recording or a folder of them; the folder of the transcript if absent.

    Raises:
        AudioError: There is none, or it cannot be read.
    """
    if audio is not None and not audio.is_dir():
        return Recording.open(audio)
    folder = audio or job.transcript.parent
    files = list_files(folder)[0] if audio else [file for file in folder.iterdir() if file.is_file()]
    index = RecordingIndex(files)
    names = [name for name in (transcript and transcript.media, job.transcript.stem) if name]
    for name in names:
        if hits := index.take(name, [job.transcript.parent.absolute(), folder.absolute()]):
            return Recording.open(hits[0])
    choices = " or ".join(repr(name) for name in dict.fromkeys(names))
    raise AudioError(f"{job.transcript}: no recording named {choices} in {folder}; name it with `audio`")


def has_result(target: Path, source: Transcript, part: Callable[[Transcript], object], name: str) -> bool:
    """Return whether the result of an earlier run is there; a person may have corrected it since.

    ``part`` returns what both have in common, and ``name`` says what that is, for the message.

    Raises:
        LsaWhisperError: A file is there that does not have it.
    """
    if not target.exists():
        return False
    if part(chat.read(target)) == part(source):
        return True
    raise LsaWhisperError(f"{target}: exists and has {name}; move it, or choose another folder")


def is_plain_text(path: Path) -> bool:
    """Return whether a file has the extension of plain text, not of CHAT.

    >>> is_plain_text(Path("a.txt")), is_plain_text(Path("a.cha"))
    (True, False)
    """
    return path.suffix.lower() == ".txt"


def stored_windows(
    target: Path, source: Transcript, recording: Recording, model_digest: str, *settings: str
) -> PartialDecoding:
    """Return the stored windows of an interrupted run with the same transcript, recording, model and ``settings``."""
    with recording.path.open("rb") as stream:
        sound = hashlib.file_digest(stream, "sha256").hexdigest()
    parts = [sound, model_digest, chat.serialize(source), *settings, __version__]
    return PartialDecoding(target, hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16])
