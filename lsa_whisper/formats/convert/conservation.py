"""What a conversion keeps: utterances, words, marks and times before and after, and each loss by its kind.

What a written file holds is what the program reads from it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module

from lsa_whisper.chat import Line, Transcript, Utterance
from lsa_whisper.chat.codes import RECORD, UNTRANSCRIBED
from lsa_whisper.chat.plain_words import count_simple, is_simple
from lsa_whisper.errors import FormatError
from lsa_whisper.formats import FOR_PEOPLE, FORMAT_SUFFIXES
from lsa_whisper.formats.docx import NOTES
from lsa_whisper.formats.reading import READABLE, ReadingOptions
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.to_transcript import to_transcript


@dataclass(frozen=True)
class TranscriptCounts:
    """What a transcript holds; ``marks`` is ``None`` where the format has none of its own."""

    utterances: int = 0
    words: int = 0
    marks: int | None = 0
    times: int = 0

    def __add__(self, other: TranscriptCounts) -> TranscriptCounts:
        """Return the sums; that of marks is unknown if one is."""
        complete = self.marks is not None and other.marks is not None
        marks = (self.marks or 0) + (other.marks or 0) if complete else None
        return TranscriptCounts(
            self.utterances + other.utterances, self.words + other.words, marks, self.times + other.times
        )


@dataclass(frozen=True)
class Loss:
    """What a conversion lost: its ``kind``, how many of it, and where the first one stood."""

    kind: str
    count: int
    first: str = ""

    def __str__(self) -> str:
        """Return the loss as the report prints it."""
        return f"{self.kind}: {self.count}{f', first at {self.first}' if self.first else ''}"


def counts_of(transcript: Transcript) -> TranscriptCounts:
    """Return what a CHAT transcript holds."""
    words = marks = times = 0
    by_text: dict[str, tuple[int, int]] = {}  # long conversations say the same again and again
    for utterance in transcript.utterances:
        if (text := utterance.text) not in by_text:
            by_text[text] = _words_and_marks(utterance)
        words, marks, times = words + by_text[text][0], marks + by_text[text][1], times + (utterance.span is not None)
    return TranscriptCounts(len(transcript.utterances), words, marks, times)


def _words_and_marks(utterance: Utterance) -> tuple[int, int]:
    if is_simple(utterance.text):
        return count_simple(utterance.text)
    return len(transcribed_words(utterance)), len(utterance.events())


def transcribed_words(utterance: Utterance) -> list[str]:
    """Return the words of an utterance, without ``xxx`` and the like, which stand for unknown words."""
    return [word for word in utterance.verbatim() if word not in UNTRANSCRIBED]


def read_back(text: str | bytes, transcript: Transcript, format: str) -> Transcript:
    """Return what a program reads from ``text``, which is ``transcript`` in this format; nothing may be there."""
    if format in FOR_PEOPLE:  # each utterance stands there as it is
        names, comments = (NOTES, "@Comment") if format == "docx" else ((), None)
        roles = None if any(person.name for person in transcript.participants.values()) else "@Participants"
        kept = (line for line in transcript.headers if line.name in (roles, comments))
        rows = (
            (utterance, tuple(tier for tier in utterance.tiers if tier.name in names))
            for utterance in transcript.utterances
        )
        headers = [line for line in kept if not line.value.startswith(RECORD)]
        return Transcript([*headers, *(replace(utterance, tiers=tiers) for utterance, tiers in rows)])
    data = text if isinstance(text, bytes) else text.encode(errors="replace")
    suffix = f".{FORMAT_SUFFIXES[format].lower()}"
    module = import_module(f"lsa_whisper.formats.reading.{READABLE[suffix]}")
    try:
        sources = module.parse(data, f"written{suffix}", Conventions())
    except FormatError:  # without utterances, or without cues
        return Transcript([])
    language = next(iter(transcript.languages), "eng")
    return to_transcript(sources[0], ReadingOptions(language, infer_marks=False)) if sources else Transcript([])


def losses_of_writing(before: Transcript, after: Transcript) -> Iterator[Loss]:
    """Yield what ``before`` holds and ``after`` does not, by kind."""
    old, new = before.utterances, after.utterances
    yield from _loss("utterances", old, new, lambda _: 1, lambda turn: tuple(map(_bare, turn.verbatim())) or turn.text)
    yield from _lost_words(old, new)
    yield from _loss("marks", old, new, lambda turn: _words_and_marks(turn)[1], lambda turn: tuple(turn.events()))
    yield from _loss("times", old, new, lambda turn: turn.span is not None, lambda turn: turn.span)
    yield from _loss("word times", old, new, lambda turn: len(turn.word_times), lambda turn: tuple(turn.word_times))
    yield from _loss("dependent tiers", old, new, lambda turn: len(_tiers(turn)), _tiers)
    headers, remaining = _headers(before), Counter(line.name for line in _headers(after))
    rows = ((line, [head.name for head in headers[: at + 1]].count(line.name)) for at, line in enumerate(headers))
    missing = [line for line, number in rows if number > remaining[line.name]]
    if missing:
        yield Loss("headers", len(missing), f"line {missing[0].number}")


def _lost_words(before: Iterable[Utterance], after: Iterable[Utterance]) -> Iterator[Loss]:
    remaining = _words(after)
    count, first = 0, ""
    for utterance in before:
        for word in transcribed_words(utterance):
            if remaining[_bare(word)]:
                remaining[_bare(word)] -= 1
            else:
                count += 1
                first = first or f"line {utterance.line or 1}"
    if count:
        yield Loss("words", count, first)


def _words(utterances: Iterable[Utterance]) -> Counter[str]:
    return Counter(_bare(word) for utterance in utterances for word in transcribed_words(utterance))


def _bare(word: str) -> str:
    """Return ``word`` without capitals, and without the hyphen that cuts it off: without marks it is punctuation."""
    return word.casefold().rstrip("-")


def kept_counts(before: Transcript, after: Transcript) -> TranscriptCounts:
    """Return what ``after``, which was read back, has of ``before``: a word that reads otherwise now is not kept."""
    words = _words(before.utterances) & _words(after.utterances)
    return replace(counts_of(after), words=sum(words.values()))


def _loss(
    kind: str,
    before: Iterable[Utterance],
    after: Iterable[Utterance],
    size: Callable[[Utterance], int],
    key: Callable[[Utterance], Hashable],
) -> Iterator[Loss]:
    copies = list(after)
    count = sum(map(size, before)) - sum(map(size, copies))
    if count <= 0:
        return
    remaining = Counter(map(key, copies))
    for utterance in before:
        if size(utterance) and not remaining[key(utterance)]:
            yield Loss(kind, count, f"line {utterance.line or 1}")
            return
        remaining[key(utterance)] -= 1
    yield Loss(kind, count)


def _tiers(utterance: Utterance) -> tuple[str, ...]:
    return tuple(tier.name for tier in utterance.tiers if tier.name and tier.name != "%wor")


def _headers(transcript: Transcript) -> list[Line]:
    return [line for line in transcript.headers if line.name not in ("@UTF8", "@Begin", "@End")]
