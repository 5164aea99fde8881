"""The provenance record of a transcript: digests of its inputs, of its text and of its recording.

It is an ``@Comment`` line of the CHAT file itself. So it is written together with the transcript, moves with the file,
and two runs into one folder cannot disagree about it. With the digest of the inputs, no recording is decoded twice. The
digest of the text shows whether a person has corrected the transcript since; a corrected transcript is never written
over. Neither is the transcript of another recording: two children may both have a ``visit.wav``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.chat import Transcript, parse, serialize
from lsa_whisper.chat.codes import RECORD
from lsa_whisper.errors import AudioError, LsaWhisperError

_DIGITS = 16
_DIGEST = f"([0-9a-f]{{{_DIGITS}}})"
_LINE = re.compile(rf"^@Comment:\t{RECORD} {_DIGEST} {_DIGEST} {_DIGEST} {_DIGEST}\r?\n", re.MULTILINE)


@dataclass(frozen=True)
class RecordingIdentity:
    """Which recording a transcript was made from; privately, as digests.

    Attributes:
        sound: SHA-256 of the file's content, which stays the same when the file is moved; transcripts keep the start.
        place: Digest of the file's absolute path, which stays the same when the sound is edited.
    """

    sound: str
    place: str

    def is_also(self, other: RecordingIdentity) -> bool:
        """Return whether both are the same recording: the same content anywhere, or anything at the same place."""
        return self.sound[:_DIGITS] == other.sound[:_DIGITS] or self.place == other.place

    @classmethod
    def of(cls, audio: Path) -> RecordingIdentity:
        """Return the identity of the recording at ``audio``.

        Raises:
            AudioError: It can no longer be read.
        """
        try:
            with audio.open("rb") as stream:
                sound = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            reason = error.strerror or error
            raise AudioError(f"{audio}: is no longer readable ({reason}); was it moved or changed?") from error
        return cls(sound, fingerprint(os.fsencode(audio.absolute())))


@dataclass(frozen=True)
class ProvenanceRecord:
    """The provenance of a transcript on disk.

    Attributes:
        inputs: Digest of audio, model and options.
        edited: Whether the transcript was changed after it was written.
        recording: The recording.
    """

    inputs: str
    edited: bool
    recording: RecordingIdentity


def digest_inputs(recording: RecordingIdentity, model: str, settings: Mapping[str, str]) -> str:
    """Return one digest of the content of a recording, the digest of a model, and the settings."""
    return fingerprint(json.dumps([recording.sound, model, dict(sorted(settings.items()))]))


def add_provenance(transcript: Transcript, inputs: str, recording: RecordingIdentity) -> Transcript:
    """Return the transcript with its provenance record above the first utterance."""
    text = serialize(transcript)
    line = f"@Comment:\t{RECORD} {inputs} {fingerprint(text)} {recording.sound[:_DIGITS]} {recording.place}\n"
    at = next(match.start() for match in re.finditer(r"^(\*|@End)", text, re.MULTILINE))
    return parse(text[:at] + line + text[at:])


def read_provenance(path: Path) -> ProvenanceRecord | None:
    """Return the provenance record of a CHAT file; ``None`` when it has none: this package did not write it."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    line = _LINE.search(text)
    if not line:
        return None
    edited = fingerprint(text[: line.start()] + text[line.end() :]) != line[2]
    return ProvenanceRecord(line[1], edited, RecordingIdentity(line[3], line[4]))


def is_finished(target: Path, inputs: str, recording: RecordingIdentity) -> bool:
    """Return whether the transcript at ``target`` exists and has the same ``inputs``.

    Raises:
        LsaWhisperError: The transcript exists and must not be written over.
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
    if not record.recording.is_also(recording):
        raise LsaWhisperError(
            f"{target}: is the transcript of another recording with the same name; choose another output folder, or "
            "rename one of the two"
        )
    return False


def fingerprint(content: str | bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of ``content``."""
    data = content if isinstance(content, bytes) else content.encode()
    return hashlib.sha256(data).hexdigest()[:_DIGITS]
