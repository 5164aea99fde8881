"""Which words of the transcript each window contains: the most probable division of the text.

Anchors leave a few words open at each border between two windows, more where free transcription failed. The model says
how probable each candidate is: the probability of the words given the window, and that its text ends after them. Words
may be skipped (they were not spoken), and a window may stay empty (it was not transcribed).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

SKIP = -10.0
"""Log-probability of a word of the transcript that was not spoken."""
SKIP_UNRECOGNIZED = -20.0
"""The same for a model that recognizes less than half of the words, so that it cannot say which were not spoken."""
_NEVER = -1e30
_MAX_STARTS = 48

Scores = npt.NDArray[np.float64]
ScoreTexts = Callable[[int, Sequence[int], int], Sequence[Scores]]
"""(window, first words, limit) -> for each first word the log-probability that the window's text ends before each later
word, from the first word itself (an empty text) on; no word from ``limit`` on is considered."""


@dataclass(frozen=True)
class WordRange:
    """Half-open range of the words in a window."""

    start: int
    end: int


def borders(anchors: Sequence[tuple[int, int]], windows: int, words: range) -> list[range]:
    """Return the candidates for the first word after each window, from the start of the first window on.

    ``anchors`` are ``(word, window)`` in order, of the ``words`` that are divided among a number of ``windows``.

    >>> borders([(2, 0), (5, 1)], 2, range(8))
    [range(0, 3), range(3, 6), range(8, 9)]
    """
    lowest, highest = [words.start] * (windows + 1), [words.stop] * (windows + 1)
    for word, window in anchors:
        lowest[window + 1] = max(lowest[window + 1], word + 1)
        highest[window] = min(highest[window], word)
    for at in range(1, windows + 1):
        lowest[at] = max(lowest[at], lowest[at - 1])
    for at in range(windows - 1, -1, -1):
        highest[at] = min(highest[at], highest[at + 1])
    return [
        range(words.start, highest[0] + 1),
        *(range(low, max(low, high) + 1) for low, high in zip(lowest[1:-1], highest[1:-1], strict=True)),
        range(words.stop, words.stop + 1),
    ][: windows + 1]


def divide(
    candidates: Sequence[range], score: ScoreTexts, preferred: frozenset[int] = frozenset(), *, skip: float = SKIP
) -> list[WordRange]:
    """Return the words of each window, by dynamic programming over the candidates.

    The candidates are from :func:`borders`; there is one more than there are windows. Words that begin an utterance are
    ``preferred``: others are left out first where there are too many candidates. ``skip`` is the log-probability of a
    word that was not spoken.
    """
    points = [_thinned(candidate, preferred) for candidate in candidates]
    best = {points[0][0]: 0.0}
    steps: list[dict[int, tuple[int, int]]] = []
    for window, (before, after) in enumerate(pairwise(points)):
        # Words may be skipped up to the first anchor of this window, which is the last candidate for its start.
        points_to_enter = sorted({*before, *(point for point in after if point <= before[-1])})
        best, step = _window(window, _entered(best, points_to_enter, skip), after, score, skip)
        steps.append(step)
    return _traced(points[-1][0], steps)


def _entered(best: dict[int, float], points: Sequence[int], skip: float) -> dict[int, tuple[float, int]]:
    """Return for each point the best score with which a window can start there, and the end of the window before."""
    entries: dict[int, tuple[float, int]] = {}
    score, origin, last = _NEVER, -1, points[0]
    for point in points:
        score += skip * (point - last)
        if best.get(point, _NEVER) > score:
            score, origin = best[point], point
        entries[point], last = (score, origin), point
    return entries


def _window(
    window: int, entries: dict[int, tuple[float, int]], ends: Sequence[int], score: ScoreTexts, skip: float
) -> tuple[dict[int, float], dict[int, tuple[int, int]]]:
    """Return the best score of each end of a window, and the start and the origin that it is reached from."""
    starts = [start for start, (value, _) in entries.items() if value > _NEVER / 2]
    if len(starts) == len(ends) == 1:  # the anchors leave no choice
        value, origin = entries[starts[0]]
        return {ends[0]: value}, {ends[0]: (starts[0], origin)}
    best: dict[int, float] = {}
    step: dict[int, tuple[int, int]] = {}
    for start, scores in zip(starts, score(window, starts, ends[-1]), strict=True):
        value, origin = entries[start]
        for end in ends:
            if start <= end < start + len(scores) and value + scores[end - start] > best.get(end, _NEVER):
                best[end], step[end] = value + float(scores[end - start]), (start, origin)
    for end in ends:  # all words up to there were skipped, and the window has none
        if end not in best:
            start = starts[0]
            best[end], step[end] = entries[start][0] + skip * 2 * (end - start), (start, entries[start][1])
    return best, step


def _traced(end: int, steps: Sequence[dict[int, tuple[int, int]]]) -> list[WordRange]:
    ranges = []
    for step in reversed(steps):
        start, origin = step[end]
        ranges.append(WordRange(start, end))
        end = origin
    return ranges[::-1]


def _thinned(candidates: range, preferred: frozenset[int]) -> list[int]:
    if len(candidates) <= _MAX_STARTS:
        return list(candidates)
    points = [candidate for candidate in candidates if candidate in preferred]
    places = np.linspace(0, max(0, len(points) - 1), _MAX_STARTS).round().astype(int)
    return sorted({candidates[0], candidates[-1], *(points[at] for at in places if points)})
