"""The provenance record of a transcript: digests of its inputs and of its text, so that no recording is decoded twice.

It is an ``@Comment`` line of the CHAT file itself. So it is written together with the transcript, moves with the file,
and two runs into one folder cannot disagree about it. The digest of the text shows whether a person has corrected the
transcript since; a corrected transcript is never written over.
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
    """The provenance of a transcript on disk.

    Attributes:
        inputs: digest of audio, model and options.
        edited: whether the transcript was changed after it was written.
    """

    inputs: str
    edited: bool


def digest_inputs(audio: Path, model: str, settings: Mapping[str, str]) -> str:
    """Return one digest of the content of a recording, the digest of a model, and the settings."""
    with audio.open("rb") as stream:
        sound = hashlib.file_digest(stream, "sha256").hexdigest()
    return fingerprint(json.dumps([sound, model, dict(sorted(settings.items()))]))


def add_provenance(transcript: Transcript, inputs: str) -> Transcript:
    """Return the transcript with its provenance record above the first utterance."""
    text = serialize(transcript)
    line = f"@Comment:\tlsa-whisper record {inputs} {fingerprint(text)}\n"
    at = next(match.start() for match in re.finditer(r"^(\*|@End)", text, re.MULTILINE))
    return parse(text[:at] + line + text[at:])


def read_provenance(path: Path) -> ProvenanceRecord | None:
    """Return the provenance record of a CHAT file; ``None`` when it has none: this package did not write it."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    found = _LINE.search(text)
    if not found:
        return None
    return ProvenanceRecord(found[1], fingerprint(text[: found.start()] + text[found.end() :]) != found[2])


def is_finished(target: Path, inputs: str) -> bool:
    """Return whether the transcript at ``target`` exists and has the same ``inputs``.

    Raises:
        LsaWhisperError: the transcript exists and must not be written over.
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
            f"{target}: was corrected by hand, and its inputs have changed since (recording, model, options or "
            "version); move it, or choose another output folder"
        )
    return False


def fingerprint(content: str | bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of ``content``."""
    data = content if isinstance(content, bytes) else content.encode()
    return hashlib.sha256(data).hexdigest()[:16]
