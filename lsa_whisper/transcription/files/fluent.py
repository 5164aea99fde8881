"""The cleaned text of a transcript, without its disfluencies: for readers, from the same decoding."""

from __future__ import annotations

from lsa_whisper.chat import Transcript, Utterance, compose, serialize, utterance
from lsa_whisper.corpus import CLEANED_TEXT

FLUENT = ("fluent cha", "fluent txt")
"""The names of these files among the formats of ``files.derived``."""


def serialize_fluent(transcript: Transcript, name: str) -> str:
    """Return the cleaned text as CHAT or as plain text; ``name`` is one of :data:`FLUENT`.

    >>> from lsa_whisper.chat import Participant
    >>> original = utterance("PAR", "&-um I want [/] want the &+sto story .")
    >>> made = compose(languages=["eng"], participants=[Participant("PAR", "Participant")], utterances=[original])
    >>> serialize_fluent(made, "fluent txt").strip()
    'I want the story.'
    """
    cleaned = [each for original in transcript.utterances if (each := _cleaned(original))]
    if name == "fluent txt":
        from lsa_whisper import formats

        return formats.serialize(_composed(transcript, cleaned), "txt")
    return serialize(_composed(transcript, cleaned))


def _cleaned(original: Utterance) -> Utterance | None:
    words = " ".join(original.fluent())
    return utterance(original.speaker, f"{words} {original.terminator or '.'}", original.span) if words else None


def _composed(transcript: Transcript, cleaned: list[Utterance]) -> Transcript:
    people = list(transcript.participants.values())
    return compose(
        languages=transcript.languages or ["eng"],
        participants=people,
        utterances=cleaned,
        media=transcript.media,
        comments=[CLEANED_TEXT],
    )
