"""Words with times as utterances: cut at sentence ends, at pauses, and where another speaker begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lsa_whisper.formats.reading.source import SpokenText
from lsa_whisper.labels.sentence_marks import ends_sentence
from lsa_whisper.languages import chat_code
from lsa_whisper.timespan import TimeSpan

MAX_WORD_GAP_MS = 1000
"""A pause longer than this ends an utterance."""
_MAX_WORDS = 80


@dataclass(frozen=True)
class RecognizedWord:
    """A word with its ``span`` and ``speaker``; punctuation, and a word whose time is unknown, has no duration."""

    text: str
    span: TimeSpan
    speaker: str = ""
    place: str = ""


def utterances_of(words: Iterable[RecognizedWord], language: str | None = None) -> list[SpokenText]:
    """Return the utterances that ``words``, in order of time within each speaker, make up.

    ``language`` (any code; English by default) says which points are those of abbreviations.

    >>> a, b = RecognizedWord("hello.", TimeSpan(0, 400)), RecognizedWord("yes", TimeSpan(3000, 3300))
    >>> [(each.text, each.span.end_ms) for each in utterances_of([a, b])]
    [('hello.', 400), ('yes', 3300)]
    """
    made: list[SpokenText] = []
    held: list[RecognizedWord] = []

    def close() -> None:
        timed = [each for each in held if any(sign.isalnum() for sign in each.text)]
        if timed:
            text = " ".join(each.text for each in held)
            placed = [each for each in timed if each.span.duration_ms] or timed
            span = placed[0].span | placed[-1].span
            times = tuple((each.text, each.span if each.span.duration_ms else None) for each in timed)
            made.append(SpokenText(held[0].speaker, _joined(text), span, times, place=held[0].place))
        held.clear()

    code = chat_code(language or "eng")
    spoken = list(words)
    for at, word in enumerate(spoken):
        last = held[-1] if held else None
        if last and (
            word.speaker != last.speaker
            or word.span.start_ms - last.span.end_ms > MAX_WORD_GAP_MS
            or len(held) >= _MAX_WORDS
        ):
            close()
        held.append(word)
        before, after = (spoken[beside].text if 0 <= beside < len(spoken) else "" for beside in (at - 1, at + 1))
        if ends_sentence(word.text, after, code, before):
            close()
    close()
    return made


def _joined(text: str) -> str:
    """Return ``text`` with punctuation joined to the word before it."""
    for sign in ".,?!;:":
        text = text.replace(f" {sign}", sign)
    return text
