"""The words of an utterance for reading: verbatim, with the sign that ends the sentence."""

from __future__ import annotations

from lsa_whisper.chat import Transcript, Utterance

_ENDS = {"?": "?", "!": "!", "+...": "...", "+..?": "...?", "+/.": " --", "+/?": " --?", "+//.": " --", "+//?": " --?"}


def readable_text(utterance: Utterance) -> str:
    """Return the words as they were spoken, and how the utterance ended.

    >>> from lsa_whisper.chat import utterance
    >>> readable_text(utterance("CHI", "&-um the [/] the dog +..."))
    'um the the dog...'
    """
    words = " ".join(utterance.verbatim())
    return f"{words}{_ENDS.get(utterance.terminator, '.')}" if words else ""


def timed_utterances(transcript: Transcript) -> list[tuple[int, int, Utterance]]:
    """Return start, end (in milliseconds) and utterance of each that has times and words, in order of time."""
    found = [(each.span.start_ms, each.span.end_ms, each) for each in transcript.utterances if each.span]
    return sorted((row for row in found if row[2].verbatim()), key=lambda row: row[:2])


def has_several_speakers(transcript: Transcript) -> bool:
    """Return whether the text needs the names of the speakers."""
    return len({each.speaker for each in transcript.utterances}) > 1
