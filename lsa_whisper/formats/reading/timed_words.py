"""Words with times as utterances: cut at sentence ends, at pauses, and where another speaker begins."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rapidfuzz.distance import Levenshtein

from lsa_whisper.formats.reading.source import SpokenText
from lsa_whisper.labels import letters_of
from lsa_whisper.labels.sentence_marks import ends_sentence
from lsa_whisper.languages import chat_code
from lsa_whisper.timespan import TimeSpan

MAX_WORD_GAP_MS = 1000
"""A pause longer than this ends an utterance."""
_MAX_WORDS = 80
_ENDS = re.compile(r"[.?!…。？！]")


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
    >>> [(turn.text, turn.span.end_ms) for turn in utterances_of([a, b])]
    [('hello.', 400), ('yes', 3300)]
    """
    utterances: list[SpokenText] = []
    pending: list[RecognizedWord] = []

    def close() -> None:
        sounding = [word for word in pending if any(sign.isalnum() for sign in word.text)]
        if sounding:
            text = " ".join(word.text for word in pending)
            lasting = [word for word in sounding if word.span.duration_ms] or sounding
            span = lasting[0].span | lasting[-1].span
            times = tuple((word.text, word.span if word.span.duration_ms else None) for word in sounding)
            utterances.append(SpokenText(pending[0].speaker, _joined(text), span, times, place=pending[0].place))
        pending.clear()

    code = chat_code(language or "eng")
    spoken = list(words)
    for at, word in enumerate(spoken):
        last = pending[-1] if pending else None
        if last and (
            word.speaker != last.speaker
            or word.span.start_ms - last.span.end_ms > MAX_WORD_GAP_MS
            or len(pending) >= _MAX_WORDS
        ):
            close()
        pending.append(word)
        before, after = (spoken[beside].text if 0 <= beside < len(spoken) else "" for beside in (at - 1, at + 1))
        if ends_sentence(word.text, after, code, before):
            close()
    close()
    return utterances


def with_marks_of(text: str, words: list[RecognizedWord]) -> list[RecognizedWord]:
    """Return ``words`` with the punctuation and the spelling that the whole ``text`` has, if they have no marks."""
    if any(_ENDS.search(word.text) for word in words) or not _ENDS.search(text):
        return words
    spelled, marked = text.split(), list(words)
    edits = Levenshtein.opcodes([letters_of(word.text) for word in words], [*map(letters_of, spelled)])
    for at, to, size in edits.as_matching_blocks():
        marked[at : at + size] = [replace(words[at + n], text=spelled[to + n]) for n in range(size)]
    return marked


def _joined(text: str) -> str:
    """Return ``text`` with punctuation joined to the word before it."""
    for sign in ".,?!;:":
        text = text.replace(f" {sign}", sign)
    return text
