"""Utterances as readable text: verbatim words with final punctuation."""

from __future__ import annotations

from lsa_whisper.chat import Transcript, Utterance

_ENDS = {"?": "?", "!": "!", "+...": "...", "+..?": "...?", "+/.": " --", "+/?": " --?", "+//.": " --", "+//?": " --?"}


def readable_text(utterance: Utterance) -> str:
    """Return the verbatim words with final punctuation.

    >>> from lsa_whisper.chat import utterance
    >>> readable_text(utterance("CHI", "&-um the [/] the dog +..."))
    'um the the dog...'
    """
    words = " ".join(utterance.verbatim())
    return f"{words}{_ENDS.get(utterance.terminator, '.')}" if words else ""


def timed_utterances(transcript: Transcript) -> list[tuple[int, int, Utterance]]:
    """Return (start_ms, end_ms, utterance) of each utterance with times and words, in order of time."""
    found = [(each.span.start_ms, each.span.end_ms, each) for each in transcript.utterances if each.span]
    return sorted((row for row in found if row[2].verbatim()), key=lambda row: row[:2])


def has_several_speakers(transcript: Transcript) -> bool:
    """Return whether the transcript has more than one speaker."""
    return len({each.speaker for each in transcript.utterances}) > 1
