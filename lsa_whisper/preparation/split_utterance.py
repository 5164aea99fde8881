"""Splitting of utterances longer than the context, between words with times in ``%wor``.

Invariant: the parts together have the words and the disfluencies of the utterance. No cut point is inside ``<...>`` or
between a disfluency and its repair; only pauses at a cut point are lost. Only the last part has the terminator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.chat.lines import FOLD
from lsa_whisper.chat.main_tier import BULLET
from lsa_whisper.chat.main_tier import utterance as utterance_of
from lsa_whisper.chat.reading import Event, Reading
from lsa_whisper.chat.tree import Group, Word
from lsa_whisper.chat.word import read_word
from lsa_whisper.labels import Labels, encode
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True, slots=True)
class CutPoint:
    """A possible cut between two words.

    Attributes:
        end_ms: End of the word before the cut.
        start_ms: Start of the word after the cut.
        end: Offset in the main tier where the part before the cut ends.
        start: Offset in the main tier where the part after the cut starts.
    """

    end_ms: int
    start_ms: int
    end: int
    start: int


@dataclass(frozen=True, slots=True)
class UtterancePart:
    """A part of an utterance as an utterance, and its label."""

    utterance: Utterance
    label: str


def split_utterance(utterance: Utterance, context_ms: int, labels: Labels) -> list[UtterancePart]:
    """Return the parts of ``utterance``, none longer than ``context_ms``; empty if no such split exists.

    Each cut is in the longest silence between words in the last third of the context, or else anywhere in the context.

    >>> from lsa_whisper.chat import utterance
    >>> words = [(word, TimeSpan(at * 1000, at * 1000 + 600)) for at, word in enumerate(["I", "want", "want", "it"])]
    >>> long = utterance("CHI", "I want [/] want it .", TimeSpan(0, 3600), words)
    >>> [(piece.label, piece.utterance.span) for piece in split_utterance(long, 3000, Labels())]
    [('I want want', TimeSpan(start_ms=0, end_ms=2600)), ('it.', TimeSpan(start_ms=3000, end_ms=3600))]
    """
    if utterance.span is None:
        return []
    chosen: list[CutPoint] = []
    left = utterance.span
    places = list(_places(utterance, left))
    while left.duration_ms > context_ms:
        reach = [place for place in places if left.start_ms < place.end_ms <= left.start_ms + context_ms]
        late = [place for place in reach if place.end_ms > left.start_ms + context_ms * 2 // 3]
        best = max(late or reach, key=lambda place: (place.start_ms - place.end_ms, place.end_ms), default=None)
        if best is None:
            return []
        chosen.append(best)
        left = TimeSpan(best.start_ms, left.end_ms)
    pieces = list(_pieces(utterance, utterance.span, chosen))
    if not _is_lossless(utterance, pieces):
        return []
    pieces = list(_with_word_times(pieces, _times(utterance)))
    return [_with_label(pieces, at, labels) for at in range(len(pieces))]


def _places(utterance: Utterance, span: TimeSpan) -> Iterator[CutPoint]:
    """Yield the possible cuts in order: outside disfluencies, with word times on both sides."""
    times, joined = _times(utterance), _inside_disfluency(utterance)
    ended = list(accumulate((at.end_ms if at else 0 for at in times), max, initial=0))
    latest = [at.start_ms if at else span.end_ms for at in reversed(times)]
    begins = list(accumulate(latest, min, initial=span.end_ms))[::-1]
    items = utterance.tree.items
    spoken = [(at, len(Reading([item]).verbatim)) for at, item in enumerate(items) if isinstance(item, Word | Group)]
    words = 0
    for (at, count), (following, more) in pairwise(spoken):
        words += count
        # An event such as laughter between two words sounds in the gap, and neither part would contain it.
        if not count or not more or joined[words] or not times[words - 1] or not times[words]:
            continue
        if span.start_ms < ended[words] <= begins[words] < span.end_ms:
            yield CutPoint(ended[words], begins[words], items[at + 1].offset, items[following].offset)


def _inside_disfluency(utterance: Utterance) -> list[bool]:
    """Return for the position before each word whether a disfluency and its repair span it."""
    joined = [False] * (len(utterance.reading.verbatim) + 1)
    for event in utterance.reading.events:
        end = max(event.end, event.repair_end or 0)
        joined[event.start + 1 : end] = [True] * max(0, end - event.start - 1)
    return joined


def _times(utterance: Utterance) -> list[TimeSpan | None]:
    """Return the time of each spoken word; ``None`` for words that ``%wor`` lacks."""
    spoken = [_letters(word) for word in utterance.reading.verbatim]
    timed = [(_letters(word), at) for form, at in utterance.word_times for word in read_word(form).verbatim]
    times: list[TimeSpan | None] = [None] * len(spoken)
    matcher = SequenceMatcher(None, spoken, [word for word, _ in timed], autojunk=False)
    for block in matcher.get_matching_blocks():
        for at in range(block.size):
            times[block.a + at] = timed[block.b + at][1]
    return times


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word)).casefold()


def _pieces(utterance: Utterance, span: TimeSpan, cuts: Sequence[CutPoint]) -> Iterator[Utterance]:
    ends = [*((cut.end, cut.end_ms) for cut in cuts), (len(utterance.body), span.end_ms)]
    start, start_ms = 0, span.start_ms
    for at, (end, end_ms) in enumerate(ends):
        text = FOLD.sub(" ", BULLET.sub(" ", utterance.body[start:end])).strip()
        main = f"*{utterance.speaker}:\t{text} \x15{start_ms}_{end_ms}\x15\n"
        yield replace(utterance, main=main, tiers=())
        if at < len(cuts):
            start, start_ms = cuts[at].start, cuts[at].start_ms


def _with_word_times(pieces: Sequence[Utterance], times: Sequence[TimeSpan | None]) -> Iterator[Utterance]:
    """Yield the parts with their words' times; ``times`` are those of all words."""
    at = 0
    for piece in pieces:
        spoken = piece.verbatim()
        words = [(word, span) for word, span in zip(spoken, times[at:], strict=False) if span]
        yield replace(piece, tiers=utterance_of(piece.speaker, ".", words=words).tiers)
        at += len(spoken)


def _is_lossless(utterance: Utterance, pieces: Sequence[Utterance]) -> bool:
    """Return whether ``pieces`` have the words and disfluencies of ``utterance``, except pauses between them."""
    verbatim: list[str] = []
    fluent: list[str] = []
    events: Counter[Event] = Counter()
    for piece in pieces:
        at = len(verbatim)
        events.update(event.moved(at) for event in piece.events())
        verbatim += piece.verbatim()
        fluent += piece.fluent()
    lost = Counter(utterance.events())
    lost.subtract(events)
    paused = all(count == 0 or (count > 0 and event.kind is Disfluency.PAUSE) for event, count in lost.items())
    return paused and (verbatim, fluent) == (utterance.verbatim(), utterance.fluent())


def _with_label(pieces: Sequence[Utterance], at: int, labels: Labels) -> UtterancePart:
    piece = pieces[at]
    text = encode(piece, replace(labels, roles=False))
    if at < len(pieces) - 1:
        text = text.removesuffix(".").rstrip()
    if at and labels.style == "fluent":  # a capital letter marks the start of a sentence
        text = "".join(piece.fluent()[:1])[:1] + text[1:]
    return UtterancePart(piece, f"*{piece.speaker}: {text}" if labels.roles and text else text)
