"""What Batchalign drops from a transcript, put back: who spoke, in which role, and the remarks."""

from __future__ import annotations

import re
from pathlib import Path

from batchalign.chat import CHATFile, Speaker

from lsa_whisper import chat
from lsa_whisper.chat import Participant, Transcript
from lsa_whisper.errors import LsaWhisperError

_NO_TIMES = re.compile(r"%wor:\txxx \x15\d+_\d+\x15 \S+\n\Z")
_BODY = re.compile(r"^(?:\*|@End)", re.MULTILINE)


def finish(path: Path, written: Transcript, *, speakers: bool = True) -> Transcript:
    """Complete the file that Batchalign has written at ``path``, and return what it holds now.

    Args:
        path: Batchalign's CHAT file; it is replaced in one step.
        written: what our model wrote for the same recording.
        speakers: whether the model's speakers are put in; ``False`` leaves those that Batchalign has found.

    Raises:
        LsaWhisperError: the file has other utterances than the model wrote.
    """
    transcript = finished(path, written, speakers=speakers)
    chat.write(transcript, path)
    return transcript


def finished(path: Path, written: Transcript, *, speakers: bool = True) -> Transcript:
    """Return the file at ``path`` completed; see :func:`finish`."""
    with path.open(encoding="utf-8") as stream:
        document = CHATFile.read(stream)
    if len(document.utterances) != max(1, len(written.utterances)):
        raise LsaWhisperError(
            f"{path}: has {len(document.utterances)} utterances where the model wrote {len(written.utterances)}; "
            "this Batchalign joins or splits them: report it, with the version of Batchalign"
        )
    if speakers:
        _name_speakers(document, written)
    comments = [line.value for line in written.headers if line.name == "@Comment"]
    return _without_placeholders(_remarked(document.stringify(), comments))


def _name_speakers(document: CHATFile, written: Transcript) -> None:
    people = list(written.participants.values())
    speakers = {person.code: _speaker(person) for person in people}
    # A recording without words has one xxx, which nobody said.
    codes = [each.speaker for each in written.utterances] or [people[0].code]
    for each, code in zip(document.utterances, codes, strict=True):
        each.speaker = speakers[code]


def _speaker(person: Participant) -> Speaker:
    return Speaker(person.code, language=person.language, corpus=person.corpus or "batchalign", role=person.role)


def _remarked(text: str, comments: list[str]) -> str:
    """Return the text with comments above its first utterance (a document of Batchalign's offers no place for them)."""
    body = _BODY.search(text)
    at = body.start() if body else len(text)
    return text[:at] + "".join(f"@Comment:\t{comment}\n" for comment in comments) + text[at:]


def _without_placeholders(text: str) -> Transcript:
    """Return the transcript without the ``%wor`` tiers that stand for no word times (see ``backend``)."""
    transcript = chat.parse(text)
    for at, block in enumerate(transcript.blocks):
        if isinstance(block, chat.Utterance):
            kept = tuple(tier for tier in block.tiers if not _NO_TIMES.match(tier.raw))
            transcript.blocks[at] = chat.Utterance(block.speaker, block.main, kept, block.line)
    return chat.parse(chat.serialize(transcript))
