"""The line in a transcript that says from what it was made, so that finished work is not done twice.

It stands in an ``@Comment`` of the CHAT file itself: it is written in the same moment as the transcript, goes wherever
the file goes, needs no file beside it, and two runs into one folder cannot disagree about it. It also holds a digest of
the transcript, by which a file that a person has corrected since is known, and never written over.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.chat import Transcript, parse, serialize
from lsa_whisper.errors import LsaWhisperError

_LINE = re.compile(r"^@Comment:\tlsa-whisper record ([0-9a-f]{16}) ([0-9a-f]{16})\r?\n", re.MULTILINE)


@dataclass(frozen=True)
class ProvenanceRecord:
    """What a transcript on disk says about itself.

    Attributes:
        inputs: digest of audio, model and settings.
        edited: whether the transcript was changed after it was written.
    """

    inputs: str
    edited: bool


def digest_inputs(audio: Path, model: str, settings: Mapping[str, str]) -> str:
    """Return a name for the content of a recording, a model's digest and the settings together."""
    with audio.open("rb") as stream:
        sound = hashlib.file_digest(stream, "sha256").hexdigest()
    return fingerprint(json.dumps([sound, model, dict(sorted(settings.items()))]))


def add_provenance(transcript: Transcript, inputs: str) -> Transcript:
    """Return the transcript with its record above the first utterance."""
    text = serialize(transcript)
    line = f"@Comment:\tlsa-whisper record {inputs} {fingerprint(text)}\n"
    at = next(match.start() for match in re.finditer(r"^(\*|@End)", text, re.MULTILINE))
    return parse(text[:at] + line + text[at:])


def read_provenance(path: Path) -> ProvenanceRecord | None:
    """Return the record in a CHAT file; ``None`` when it has none, so that it is somebody else's."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    found = _LINE.search(text)
    if not found:
        return None
    return ProvenanceRecord(found[1], fingerprint(text[: found.start()] + text[found.end() :]) != found[2])


def is_finished(target: Path, inputs: str) -> bool:
    """Tell whether the transcript at ``target`` is there already and was made from ``inputs``.

    Raises:
        LsaWhisperError: a transcript is there which this call must not write over.
    """
    if not target.exists():
        return False
    record = read_provenance(target)
    if record is None:
        raise LsaWhisperError(f"{target}: was not written by lsa-whisper; choose another output folder, or move it")
    if record.inputs == inputs:
        return True
    if record.edited:
        raise LsaWhisperError(
            f"{target}: was corrected by hand, and what it was made from has changed (recording, model, settings or "
            "version); move it, or choose another folder"
        )
    return False


def fingerprint(content: str | bytes) -> str:
    """Return sixteen letters that tell one content of a file from another."""
    data = content if isinstance(content, bytes) else content.encode()
    return hashlib.sha256(data).hexdigest()[:16]
