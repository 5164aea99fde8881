"""Taking an utterance of another transcript of the same recording."""

from __future__ import annotations

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.review.edits.times import set_span
from lsa_whisper.review.edits.utterances import insert_utterance, set_speaker, set_text


def take_utterance(transcript: Transcript, number: int, other: Utterance) -> Transcript:
    """Return the transcript with text and speaker of ``other`` in utterance ``number``; its time stays.

    A speaker who is not in ``@Participants`` is not taken.
    """
    taken = set_text(transcript, number, other.text)
    return set_speaker(taken, number, other.speaker) if other.speaker in transcript.participants else taken


def insert_copy(transcript: Transcript, number: int, other: Utterance) -> Transcript:
    """Return the transcript with a copy of ``other``, with its time, before utterance ``number``.

    Raises:
        EditError: its speaker is not in ``@Participants``.
    """
    made = insert_utterance(transcript, number, other.speaker, other.text)
    return set_span(made, number, other.span.start_ms, other.span.end_ms) if other.span else made
