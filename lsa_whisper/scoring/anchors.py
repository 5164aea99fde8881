"""Long texts cut into pieces at anchors, so that aligning them takes time in proportion to their length.

An anchor is a run of words that occurs once in each of two texts, in the same order as the other anchors. A cheapest
alignment nearly always passes through such a run; where few words make a text, runs also agree by chance. So a cut is
kept only if the pieces cost together what the whole does, in plain Levenshtein distance, which takes no table. Texts
whose table has :data:`LARGEST` cells or fewer are one piece, and aligned as a whole. Words of utterances that do not
overlap in time are better not paired.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

Ints = NDArray[np.int64]
Piece = tuple[slice, slice]

LARGEST = 1 << 24
"""The cells of a table that is not cut: about 4,000 words on each side, half an hour of conversation."""
_RUNS = (12, 8, 6)
"""Words of an anchor: the longest first. Runs of six words are rarely the same by chance."""
_APART = 400
"""Words between two cuts, at least."""
_BASE = np.uint64(0x9E3779B97F4A7C15)


def pieces(reference: Ints, hypothesis: Ints) -> list[Piece]:
    """Return the pieces of two lists of numbered words, in order; together they are both lists.

    >>> pieces(np.arange(3), np.arange(2))
    [(slice(0, 3, None), slice(0, 2, None))]
    """
    stretches = list(_cut(reference, hypothesis, (0, 0), _RUNS))
    return stretches if len(stretches) == 1 else _confirmed(stretches, reference.tolist(), hypothesis.tolist())


def word_pieces(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> list[Piece]:
    """Return the pieces of two lists of words."""
    if len(reference) * len(hypothesis) <= LARGEST:
        return [(slice(0, len(reference)), slice(0, len(hypothesis)))]
    return pieces(*numbered(reference, hypothesis))


def numbered(*lists: Sequence[Hashable]) -> list[Ints]:
    """Return every list with its words as numbers, the same word the same number in all."""
    numbers: dict[Hashable, int] = {}
    return [np.array([numbers.setdefault(w, len(numbers)) for w in words], dtype=np.int64) for words in lists]


def _confirmed(stretches: list[Piece], reference: list[int], hypothesis: list[int]) -> list[Piece]:
    """Return the pieces without the cuts that a cheapest alignment does not pass through."""

    def cost(group: Sequence[Piece]) -> int:
        (r, h), (last_r, last_h) = group[0], group[-1]
        return Levenshtein.distance(reference[r.start : last_r.stop], hypothesis[h.start : last_h.stop])

    def confirm(group: list[Piece], total: int) -> list[Piece]:
        if len(group) == 1 or total == sum(cost([piece]) for piece in group):
            return group
        # The most even cut of the whole that holds; what is on either side of it is confirmed by itself.
        middle = len(group) // 2
        for at in sorted(range(1, len(group)), key=lambda at: abs(at - middle)):
            left, right = cost(group[:at]), cost(group[at:])
            if left + right == total:
                return [*confirm(group[:at], left), *confirm(group[at:], right)]
        (r, h), (last_r, last_h) = group[0], group[-1]
        return [(slice(r.start, last_r.stop), slice(h.start, last_h.stop))]

    return confirm(stretches, cost(stretches))


def _cut(reference: Ints, hypothesis: Ints, start: tuple[int, int], runs: Sequence[int]) -> Iterator[Piece]:
    """Yield the pieces of a stretch that starts at ``start``; where one is too large, by shorter runs."""
    end = start[0] + len(reference), start[1] + len(hypothesis)
    if len(reference) * len(hypothesis) <= LARGEST or not runs:
        yield slice(start[0], end[0]), slice(start[1], end[1])
        return
    cuts = [*_anchors(reference, hypothesis, runs[0]), (len(reference), len(hypothesis))]
    before = 0, 0
    for r, h in cuts:
        inside = reference[before[0] : r], hypothesis[before[1] : h]
        yield from _cut(*inside, (start[0] + before[0], start[1] + before[1]), runs[1:])
        before = r, h


def _anchors(reference: Ints, hypothesis: Ints, run: int) -> list[tuple[int, int]]:
    """Return places inside the anchors, :data:`_APART` words or more from each other and from the ends."""
    if min(len(reference), len(hypothesis)) < run:
        return []
    singles = [_single_runs(words, run) for words in (reference, hypothesis)]
    _, first, second = np.intersect1d(singles[0][0], singles[1][0], assume_unique=True, return_indices=True)
    places = sorted(zip(singles[0][1][first].tolist(), singles[1][1][second].tolist(), strict=True))
    cuts: list[tuple[int, int]] = []
    for r, h in _in_order(places):
        last = cuts[-1] if cuts else (0, 0)
        cut = r + run // 2, h + run // 2
        if min(cut[0] - last[0], cut[1] - last[1]) >= _APART and len(reference) - cut[0] >= _APART:
            cuts.append(cut)
    return cuts


def _single_runs(words: Ints, run: int) -> tuple[NDArray[np.uint64], Ints]:
    """Return the runs that occur once, as numbers, and where each begins."""
    hashes = np.zeros(len(words) - run + 1, dtype=np.uint64)
    for at in range(run):
        hashes = hashes * _BASE + words[at : len(words) - run + 1 + at].astype(np.uint64)
    unique, places, counts = np.unique(hashes, return_index=True, return_counts=True)
    once = counts == 1
    return unique[once], places[once]


def _in_order(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the most places that rise on both sides, of places in order of the first.

    >>> _in_order([(0, 5), (1, 1), (2, 2), (3, 0)])
    [(1, 1), (2, 2)]
    """
    tails: list[int] = []
    ends: list[int] = []
    before = [-1] * len(places)
    for number, (_, second) in enumerate(places):
        at = bisect_left(tails, second)
        tails[at : at + 1] = [second]
        ends[at : at + 1] = [number]
        before[number] = ends[at - 1] if at else -1
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(places[number])
        number = before[number]
    return chain[::-1]


Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class UtteranceTimes:
    """The start and end of the utterances of both sides in milliseconds, shape (utterances, 2); nan where unknown.

    All pairs of 20,000 utterances would take 400 MB, so each row of the matrix is made when it is needed.
    """

    reference: NDArray[np.float64]
    hypothesis: NDArray[np.float64]

    def __getitem__(self, utterance: int) -> Bools:
        start, end = self.reference[utterance]
        apart: Bools = (start >= self.hypothesis[:, 1]) | (self.hypothesis[:, 0] >= end)  # never true of nan
        return apart


@dataclass(frozen=True)
class DisjointUtterances:
    """Utterances that do not overlap in time: ``matrix[reference utterance]`` says it of each hypothesis utterance.

    ``reference`` and ``hypothesis`` give the utterance of each word, shape (words,).
    """

    matrix: Bools | UtteranceTimes
    reference: Ints
    hypothesis: Ints
