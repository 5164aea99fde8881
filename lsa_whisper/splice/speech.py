"""Utterances whose words all have times, and the words of each speaker by which sounds are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.chat.reading import Reading
from lsa_whisper.chat.tree import Marker, Word, walk
from lsa_whisper.timespan import TimeSpan

LEAD_MS = 100
"""Audio kept before the first and after the last word of an utterance, less where a neighbor is closer."""


@dataclass(frozen=True, slots=True)
class SourceWord:
    """A spoken word.

    Attributes:
        text: The word as :meth:`Utterance.verbatim` gives it.
        span: Its time in the recording.
        offset: Where it is written in the main tier's body, if it is a plain word outside all disfluencies.
        filler: How a filled pause is written, such as ``&-um``; otherwise empty.
    """

    text: str
    span: TimeSpan
    offset: int | None = None
    filler: str = ""


@dataclass(frozen=True)
class SourceUtterance:
    """An utterance with its words, and the part of the recording that has its speech alone."""

    utterance: Utterance
    words: tuple[SourceWord, ...]
    free: TimeSpan

    def is_plain(self, start: int, end: int) -> bool:
        """Return whether the words from ``start`` to ``end`` are plain and only spaces stand between them."""
        if not 0 <= start < end <= len(self.words):
            return False
        words = self.words[start:end]
        return all(word.offset is not None for word in words) and all(
            not self.utterance.body[(a.offset or 0) + len(a.text) : b.offset].strip() for a, b in pairwise(words)
        )


def source_utterances(utterances: Sequence[Utterance], end_ms: int) -> list[SourceUtterance]:
    """Return the utterances of which every word has a time, and that overlap no other utterance."""
    timed = sorted(
        (utterance for utterance in utterances if utterance.span), key=lambda own: own.span or TimeSpan(0, 0)
    )
    ends = 0
    sources = []
    for at, utterance in enumerate(timed):
        span = utterance.span or TimeSpan(0, 0)
        following = timed[at + 1].span if at + 1 < len(timed) else None
        next_ms = following.start_ms if following else end_ms
        if ends <= span.start_ms < span.end_ms <= next_ms and not utterance.unusable():
            lead, tail = (span.start_ms - ends) // 2, (next_ms - span.end_ms) // 2
            free = TimeSpan(span.start_ms - min(LEAD_MS, lead), span.end_ms + min(LEAD_MS, tail))
            words = _words(utterance, free)
            sources += [SourceUtterance(utterance, words, free)] if words else []
        ends = max(ends, span.end_ms)
    return sources


def _words(utterance: Utterance, free: TimeSpan) -> tuple[SourceWord, ...]:
    """Return the words with their times, or none if a time is missing or they are not in order."""
    spans = [span for span in utterance.word_spans() if span]
    verbatim = utterance.reading.verbatim
    if len(spans) < len(verbatim) or any(span.duration_ms <= 0 for span in spans):
        return ()
    edges = [free.start_ms, *(edge for span in spans for edge in (span.start_ms, span.end_ms)), free.end_ms]
    if any(b < a for a, b in pairwise(edges)):
        return ()
    plain, fillers = _plain_words(utterance), _fillers(utterance)
    return tuple(
        SourceWord(text, span, plain.get(at), fillers.get(at, ""))
        for at, (text, span) in enumerate(zip(verbatim, spans, strict=True))
    )


def _plain_words(utterance: Utterance) -> dict[int, int]:
    """Return the offset of each word, by its index, that is written as it is spoken and outside all disfluencies."""
    busy: set[int] = set()
    for event in utterance.reading.events:
        busy.update(range(event.start, max(event.end, event.repair_end or 0, event.start + 1)))
    offsets = {}
    at = 0
    for item in utterance.tree.items:
        if isinstance(item, Marker):
            continue
        sounds = Reading([item]).verbatim
        as_spoken = isinstance(item, Word) and sounds == [item.text] and item.text.replace("'", "").isalpha()
        if as_spoken and not item.codes and at not in busy:
            offsets[at] = item.offset
        at += len(sounds)
    return offsets


def _fillers(utterance: Utterance) -> dict[int, str]:
    """Return how each filled pause of one word is written, by its index."""
    starts = {
        event.start
        for event in utterance.reading.events
        if event.kind is Disfluency.FILLED_PAUSE and event.end == event.start + 1
    }
    fillers = {}
    at = 0
    for word in (item for item in walk(utterance.tree.items) if isinstance(item, Word)):
        sounds = Reading([Word(word.text, word.offset)]).verbatim
        if at in starts and len(sounds) == 1 and word.text == f"&-{sounds[0]}":
            fillers[at] = word.text
        at += len(sounds)
    return fillers


@dataclass(frozen=True, slots=True)
class WordPlace:
    """Word number ``word`` of utterance number ``utterance``."""

    utterance: int
    word: int


@dataclass
class SpeakerSounds:
    """Where the words of one speaker are found.

    Attributes:
        fillers: The filled pauses.
        words: The plain words, by spelling.
        after: The plain words, by the plain word right before them.
    """

    fillers: list[WordPlace] = field(default_factory=list)
    words: dict[str, list[WordPlace]] = field(default_factory=dict)
    after: dict[str, list[WordPlace]] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    """The utterances that start with two plain words."""


def speaker_sounds(utterances: Sequence[SourceUtterance]) -> dict[str, SpeakerSounds]:
    """Return the sounds of each speaker code."""
    by_speaker: dict[str, SpeakerSounds] = {}
    for number, source in enumerate(utterances):
        sounds = by_speaker.setdefault(source.utterance.speaker, SpeakerSounds())
        for at, word in enumerate(source.words):
            place = WordPlace(number, at)
            if word.filler:
                sounds.fillers.append(place)
            if word.offset is None:
                continue
            sounds.words.setdefault(word.text.casefold(), []).append(place)
            if source.is_plain(at - 1, at + 1):
                sounds.after.setdefault(source.words[at - 1].text.casefold(), []).append(place)
        if source.is_plain(0, 2):
            sounds.starts.append(number)
    return by_speaker
