"""Anchors of an alignment: bullets that are there already, and words that free transcription recognized.

A bullet divides a recording into sections that are aligned on their own: its utterance is aligned inside it, and no
other word is sought before or after it.

A model's own transcript does not drift: what it recognized was spoken there. But common words match by accident, above
all where the transcript has words that were not spoken. So only runs of matching words that are long enough count.

The order in which utterances were spoken follows where that of the transcript differs from it a little. People write a
short answer after the long sentence that it interrupted. Such an utterance matches nothing at its own place, and a run
of unmatched words close by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lsa_whisper.align.text import TextWord
from lsa_whisper.chat import Utterance
from lsa_whisper.scoring.align import UNALIGNED, Alignment, align
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True)
class AlignedSection:
    """Words that are sought in a part of the recording.

    Attributes:
        words: Half-open range of words.
        span: The part of the recording.
        timed: Whether the words are those of one utterance with a bullet.
    """

    words: range
    span: TimeSpan
    timed: bool


def find_sections(utterances: Sequence[Utterance], words: Sequence[TextWord], duration_ms: int) -> list[AlignedSection]:
    """Return the sections of a transcript in its order.

    >>> from lsa_whisper.align.text import text_words
    >>> from lsa_whisper.chat import utterance
    >>> spoken = [utterance("A", "a ."), utterance("A", "b .", TimeSpan(500, 900)), utterance("A", "c .")]
    >>> [(own.words, own.span.start_ms, own.span.end_ms) for own in find_sections(spoken, text_words(spoken), 2000)]
    [(range(0, 1), 0, 500), (range(1, 2), 500, 900), (range(2, 3), 900, 2000)]
    """
    parts = list(_parts(utterances, words))
    bullets = [utterances[number].span if number >= 0 else None for number, _ in parts]
    sections = []
    for at, ((_, own), bullet) in enumerate(zip(parts, bullets, strict=True)):
        if bullet is not None:
            inside = bullet & TimeSpan(0, duration_ms)
            sections += [AlignedSection(own, inside, True)] if inside else []
            continue
        # Overlapping utterances may end after the next one begins, so the last bullet before is not always the latest.
        start = max((near.end_ms for near in bullets[:at][-1:] if near), default=0)
        end = min((near.start_ms for near in bullets[at + 1 :][:1] if near), default=duration_ms)
        if span := TimeSpan(start, end) & TimeSpan(0, duration_ms):
            sections.append(AlignedSection(own, span, False))
    return sections


def _parts(utterances: Sequence[Utterance], words: Sequence[TextWord]) -> Iterator[tuple[int, range]]:
    """Yield the words of each utterance with a bullet, and of each run of utterances without; -1 stands for those."""

    def bullet_of(index: int) -> int:
        number = words[index].utterance
        return number if utterances[number].span else -1

    for number, group in groupby(range(len(words)), bullet_of):
        own = list(group)
        yield number, range(own[0], own[-1] + 1)


_RUN_LETTERS = 8  # "the dog" is spoken everywhere, "the yellow dog" is not


@dataclass(frozen=True)
class DecodedWord:
    """A word of free transcription, and the start of the window that it was decoded in."""

    key: str
    text: str
    span: TimeSpan
    window_ms: int


@dataclass(frozen=True)
class Matches:
    """The alignment of the transcript with the decoded words.

    Attributes:
        alignment: All pairs, by edit distance.
        anchors: Word of the transcript -> decoded word, for pairs in reliable runs.
    """

    alignment: Alignment
    anchors: dict[int, int]

    def recognized_at(self, index: int, words: Sequence[TextWord], decoded: Sequence[DecodedWord]) -> int:
        """Return the decoded word that is the same as word ``index``, -1 if it was not recognized."""
        at = int(self.alignment.to_hypothesis[index])
        return at if at != UNALIGNED and decoded[at].key == words[index].key else -1

    @property
    def recognizes_most(self) -> bool:
        """Whether the model recognized at least half of the words; only then is it evidence that it did not."""
        return 2 * int(self.alignment.equal.sum()) >= len(self.alignment.to_hypothesis)


def match_words(words: Sequence[TextWord], decoded: Sequence[DecodedWord]) -> Matches:
    """Return which words of the transcript were decoded where."""
    keys = [word.key for word in words]
    alignment = align(keys, [word.key for word in decoded], disfluent_reference=[word.disfluent for word in words])
    return Matches(alignment, dict(pair for run in _runs(alignment) if _is_reliable(run, keys) for pair in run))


def _is_reliable(run: Sequence[tuple[int, int]], keys: Sequence[str]) -> bool:
    return len(run) > 1 and sum(len(keys[word]) for word, _ in run) >= _RUN_LETTERS


def _runs(alignment: Alignment) -> Iterator[list[tuple[int, int]]]:
    """Yield the runs of equal words without any error between them."""
    run: list[tuple[int, int]] = []
    for (word, decoded), equal in zip(alignment, alignment.equal.tolist(), strict=True):
        if equal:
            run.append((word, decoded))
        elif UNALIGNED not in (word, decoded) or run:
            yield run
            run = []
    yield run


_FAR = 3  # utterances
_MIN_WORDS = 3  # "the dog" is spoken everywhere
_EQUAL = 0.75  # of the words, where free transcription has an utterance


def spoken_order(
    utterances: Sequence[Utterance], words: Sequence[TextWord], decoded: Sequence[DecodedWord], matches: Matches
) -> list[int]:
    """Return the indices of the utterances as they were spoken; bullets fix the order that they have."""
    count = len(utterances)
    if any(utterance.span for utterance in utterances):
        return list(range(count))
    own: list[list[int]] = [[] for _ in utterances]
    for index, word in enumerate(words):
        if not word.disfluent:
            own[word.utterance].append(index)
    recognized = [[at for index in row if (at := matches.recognized_at(index, words, decoded)) >= 0] for row in own]
    firm = {at for at in range(count) if own[at] and len(recognized[at]) >= len(own[at]) / 2}
    busy = {place for at in firm for place in recognized[at]}
    places = {at: recognized[at][0] for at in firm}
    for at in sorted(set(range(count)) - firm):
        around = [places[near] for near in firm if abs(near - at) <= _FAR]
        keys = [words[index].key for index in own[at]]
        if len(keys) >= _MIN_WORDS and around:
            starts = list(_runs_from(keys, decoded, range(min(around), max(around) + 1), busy))
            places |= {at: starts[0]} if len(starts) == 1 else {}
    return _sorted(count, places, firm)


def _runs_from(keys: Sequence[str], decoded: Sequence[DecodedWord], starts: range, busy: set[int]) -> Iterator[int]:
    for start in starts:
        run = range(start, min(start + len(keys), len(decoded)))
        equal = sum(decoded[at].key == key for at, key in zip(run, keys, strict=False) if at not in busy)
        if equal >= _EQUAL * len(keys):
            yield start


def _sorted(count: int, places: dict[int, int], firm: set[int]) -> list[int]:
    """Return the utterances by place; one without a place stays behind the one before it."""
    keys, last = [], -1
    for at in range(count):
        last = places[at] if at in firm else last
        keys.append((places.get(at, last), at))
    return [at for _, at in sorted(keys)]
