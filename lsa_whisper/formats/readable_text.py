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
    return [row for row in placed_utterances(transcript) if row[2].verbatim()]


def placed_utterances(transcript: Transcript) -> list[tuple[int, int, Utterance]]:
    """Return (start_ms, end_ms, utterance) of each utterance with times, also of those without words, in order."""
    found = [(each.span.start_ms, each.span.end_ms, each) for each in transcript.utterances if each.span]
    return sorted(found, key=lambda row: row[:2])


def has_several_speakers(transcript: Transcript) -> bool:
    """Return whether the transcript has more than one speaker."""
    return len({each.speaker for each in transcript.utterances}) > 1


def dependent_tiers(utterance: Utterance) -> dict[str, str]:
    """Return the dependent tiers but ``%wor``, by name; several of one name are joined."""
    found: dict[str, str] = {}
    for tier in utterance.tiers:
        if tier.name.startswith("%") and tier.name != "%wor" and tier.value:
            found[tier.name] = f"{found[tier.name]} {tier.value}" if tier.name in found else tier.value
    return found
