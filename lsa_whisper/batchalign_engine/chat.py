"""CHAT on its way into Batchalign and out of it: texts that Batchalign accepts, and what it drops from a transcript.

An utterance's text is its CHAT, or its bare words if Batchalign rejects the CHAT. A single token that Batchalign
rejects fails the whole file, so each utterance is checked first. Dropped are speakers, roles and comments, which are
restored.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from batchalign.chat import CHATFile, Speaker
from batchalign.chat import Utterance as BatchalignUtterance

from lsa_whisper import chat
from lsa_whisper.chat import Participant, Transcript, Utterance
from lsa_whisper.errors import LsaWhisperError

UNINTELLIGIBLE_UTTERANCE = "xxx ."
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def wording(utterance: Utterance, language: str) -> tuple[str, bool]:
    """Return a main tier that Batchalign accepts, without speaker and bullet, and whether it is the utterance's own.

    Batchalign's rules differ between languages (ISO 639-3).
    """
    if accepted(utterance.text, language):
        return utterance.text, True
    bare = bare_words(utterance)
    return (bare if accepted(bare, language) else UNINTELLIGIBLE_UTTERANCE), False


def accepted(text: str, language: str) -> bool:
    """Return whether Batchalign accepts ``text`` as a main tier."""
    try:
        BatchalignUtterance(Speaker("PAR", language=language, corpus="check"), text)
    except ValueError:
        return False
    return text.rstrip().endswith((".", "?", "!"))


def bare_words(utterance: Utterance) -> str:
    """Return the spoken words without marks, digits and signs, or ``xxx .`` if there are none.

    >>> from lsa_whisper.chat import utterance
    >>> bare_words(utterance("PAR", "I saw | &-um 12 dog’s ?"))
    "I saw um dog's ?"
    """
    groups = [_LETTERS.findall(word.replace("’", "'")) for word in utterance.verbatim()]
    words = [part for parts in groups for part in parts]
    end = utterance.terminator[-1:] if utterance.terminator[-1:] in {".", "?", "!"} else "."
    return " ".join([*words, end]) if words else UNINTELLIGIBLE_UTTERANCE


_NO_TIMES = re.compile(r"%wor:\txxx \x15\d+_\d+\x15 \S+\n\Z")
_BODY = re.compile(r"^(?:\*|@End)", re.MULTILINE)


def finish(path: Path, original: Transcript, *, speakers: bool = True) -> Transcript:
    """Complete the file that Batchalign wrote at ``path``, and return the completed transcript.

    The file is replaced atomically. ``original`` is the model's transcript of the same recording, whose speakers are
    used; without ``speakers``, those that Batchalign found are kept.

    Raises:
        LsaWhisperError: The file does not have the utterances of the model's transcript.
    """
    transcript = finished(path, original, speakers=speakers)
    chat.write(transcript, path)
    return transcript


def finished(path: Path, original: Transcript, *, speakers: bool = True) -> Transcript:
    """Return the file at ``path`` completed; see :func:`finish`."""
    with path.open(encoding="utf-8") as stream:
        document = CHATFile.read(stream)
    if len(document.utterances) != max(1, len(original.utterances)):
        raise LsaWhisperError(
            f"{path}: has {len(document.utterances)} utterances, the model's transcript {len(original.utterances)}; "
            "this Batchalign joins or splits them: report it, with the version of Batchalign"
        )
    if speakers:
        _name_speakers(document, original)
    comments = [line.value for line in original.headers if line.name == "@Comment"]
    text = document.stringify()  # without comments, which these documents do not support
    body = _BODY.search(text)
    at = body.start() if body else len(text)
    return _without_placeholders(text[:at] + "".join(f"@Comment:\t{comment}\n" for comment in comments) + text[at:])


def _name_speakers(document: CHATFile, original: Transcript) -> None:
    people = list(original.participants.values())
    speakers = {person.code: _speaker(person) for person in people}
    # A recording without words has one xxx, which has no speaker.
    codes = [utterance.speaker for utterance in original.utterances] or [people[0].code]
    for block, code in zip(document.utterances, codes, strict=True):
        block.speaker = speakers[code]


def _speaker(person: Participant) -> Speaker:
    return Speaker(person.code, language=person.language, corpus=person.corpus or "batchalign", role=person.role)


def _without_placeholders(text: str) -> Transcript:
    """Return the transcript without placeholder ``%wor`` tiers (see ``backend``)."""
    transcript = chat.parse(text)
    utterances = (
        replace(utterance, tiers=tuple(tier for tier in utterance.tiers if not _NO_TIMES.match(tier.raw)))
        for utterance in transcript.utterances
    )
    return chat.parse(chat.serialize(transcript.with_utterances(utterances)))
