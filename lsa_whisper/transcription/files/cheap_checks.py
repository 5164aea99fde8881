"""What can be wrong with a call and is known without the model, whose loading takes seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lsa_whisper.chat.files import is_transcript, media_name
from lsa_whisper.errors import DiskError, LsaWhisperError
from lsa_whisper.formats import FORMATS
from lsa_whisper.system.device import verify_device
from lsa_whisper.system.disk import unwritable_reason
from lsa_whisper.system.files import DOCUMENT_SUFFIXES
from lsa_whisper.system.machine import nearest_existing
from lsa_whisper.transcription.options import TranscriptionOptions

_Jobs = Sequence[tuple[Path, Path]]


def verify_call(inputs: Sequence[Path], options: TranscriptionOptions) -> None:
    """Return if no transcript or other text is among the inputs, and the device can be meant.

    Raises:
        LsaWhisperError: What is wrong, and what to give instead.
    """
    if wrong := [path for path in inputs if is_transcript(path)]:
        raise LsaWhisperError(
            f"{wrong[0]}: is a transcript, not a recording; 'lsa-whisper align' gives it times, 'lsa-whisper review' "
            "opens it beside its recording"
        )
    if wrong := [path for path in inputs if path.suffix.lower() in DOCUMENT_SUFFIXES and path.is_file()]:
        raise LsaWhisperError(f"{wrong[0]}: is a text, not a recording; name the file with the sound")
    if len(inputs) > 1 and _exists(whole := Path(" ".join(map(str, inputs)))):
        raise LsaWhisperError(f'{whole}: a name with spaces needs quotes; write "{whole}"')
    verify_device(options.device)


def split_formats(names: Sequence[str] | str) -> tuple[str, ...]:
    """Return the formats beside CHAT; several may stand in one name, in either case.

    >>> split_formats(["cha", "SRT, .eaf"]), split_formats("srt,eaf")
    (('srt', 'eaf'), ('srt', 'eaf'))

    Raises:
        LsaWhisperError: A format is not known.
    """
    names = [names] if isinstance(names, str) else names
    single = [part.lower().lstrip(".") for name in names for part in re.split(r"[,\s]+", name) if part]
    if unknown := [name for name in single if name not in FORMATS]:
        raise LsaWhisperError(f"format {unknown[0]!r} is not known; choose among {', '.join(FORMATS)}")
    return tuple(dict.fromkeys(name for name in single if name != "cha"))


def out_folder(inputs: Sequence[Path], out: Path | None) -> tuple[Path | None, Path | None]:
    """Return the folder of the transcripts, and the file of the only one if ``out`` names a CHAT file.

    Raises:
        LsaWhisperError: ``out`` names one file for several recordings, or one that does not fit the recording.
    """
    if out is None or out.is_dir():
        return out, None
    if is_transcript(out):
        if len(inputs) != 1 or inputs[0].is_dir():
            raise LsaWhisperError(f"{out}: is one file, but there may be several transcripts; name a folder")
        if out.stem != (name := media_name(inputs[0].stem)):
            target = out.with_name(f"{name}.cha")
            raise LsaWhisperError(f"{out}: CHAT wants a transcript to have its recording's name; write -o {target}")
        return out.parent, out
    if out.exists():
        raise LsaWhisperError(f"{out}: is a file; name a folder for the transcripts, or a file such as visit.cha")
    return out, None


def verify_writable(jobs: _Jobs) -> None:
    """Return if any folder of new transcripts can be written; one that cannot does not stop the others.

    Raises:
        DiskError: None can.
    """
    folders = list(dict.fromkeys(target.parent for _, target in jobs if not _exists(target)))
    problems = [_problem(folder) for folder in folders]
    if folders and all(problems):
        raise DiskError(f"{folders[0]}: cannot be written ({problems[0]}); name a folder of your own with -o")


def _exists(target: Path) -> bool:
    """Return whether something is there; nothing is under a name too long, such as those of many recordings at once."""
    try:
        return target.exists()
    except OSError:
        return False


def _problem(folder: Path) -> str:
    """Return why a folder cannot be written; empty if it can, or its name is too long: then its recording fails."""
    try:
        nearest_existing(folder)
    except OSError:
        return ""
    return unwritable_reason(folder)


def renaming_notice(jobs: _Jobs) -> str:
    """Return one line on the transcripts that are not called as their recordings; empty if all are.

    >>> renaming_notice([(Path("Anna (2).wav"), Path("Anna_2.cha"))])
    'CLAN cannot read some names, so Anna (2).wav becomes Anna_2.cha (the recordings keep their names)'
    """
    changes = [f"{audio.name} becomes {target.name}" for audio, target in jobs if media_name(audio.stem) != audio.stem]
    if not changes:
        return ""
    more = f" and {len(changes) - 3:,} more" * (len(changes) > 3)
    return f"CLAN cannot read some names, so {', '.join(changes[:3])}{more} (the recordings keep their names)"
