"""When words are spoken, and which disfluencies of the reference the hypothesis has at the same time.

Conventions:

- Word times come from ``%wor`` if it has as many words as the utterance. Otherwise the utterance's duration is divided
  among its words in proportion to their letters. Words of an utterance without times have none.
- Two events of one class match when their onsets differ by at most ``collar_ms``, each with at most one other. This
  shows whether a disfluency was transcribed at its time, even if the words around it are wrong.
- A file in which either transcript has words but no times cannot be scored by time: its events are *not scored*.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.scoring.counts import Detections, match_in_order
from lsa_whisper.scoring.words import FileWords

_Floats = NDArray[np.float64]

WordSpan = tuple[int, int, bool]
"""Start and end of a word in milliseconds, and whether they are known; if not, they are estimated."""

COLLAR_MS = 500
"""Largest difference between two onsets: about one word, because estimated word times are no more precise."""


def word_times(words: FileWords) -> _Floats:
    """Return the start and end of each word in milliseconds, shape (words, 2); nan if unknown."""
    times: list[tuple[float, float]] = []
    first = []  # index in ``times`` of each utterance's first spoken word
    for utterance in words.utterances:
        first.append(len(times))
        times.extend(spoken_times(utterance))
    if not times:
        return np.full((len(words.utterance_of), 2), np.nan)
    by_word: _Floats = np.array(times, dtype=np.float64)[np.array(first)[words.utterance_of] + words.spoken_of]
    return by_word


def word_spans(words: FileWords) -> list[WordSpan | None]:
    """Return the span of each word, and whether it is known, not estimated; ``None`` if there are no times."""
    exact = [len(utterance.word_times) == len(utterance.reading.verbatim) for utterance in words.utterances]
    return [
        None if isnan(start) else (round(start), round(end), exact[utterance])
        for (start, end), utterance in zip(word_times(words).tolist(), words.utterance_of.tolist(), strict=True)
    ]


def spoken_times(utterance: Utterance) -> list[tuple[float, float]]:
    """Return the start and end of each of an utterance's spoken words in milliseconds; nan if unknown."""
    words, span = utterance.verbatim(), utterance.span
    timed = utterance.word_times
    if timed and len(timed) == len(words):
        return [(at.start_ms, at.end_ms) for _, at in timed]
    if span is None:
        return [(nan, nan)] * len(words)
    letters = span.duration_ms / max(sum(map(len, words)) + len(words), 1)
    edges = [span.start_ms + n * letters for n in accumulate((len(word) + 1 for word in words), initial=0)]
    return list(pairwise(edges))


def match_onsets(reference: Sequence[float], hypothesis: Sequence[float], collar_ms: float = COLLAR_MS) -> Detections:
    """Return how many of two ascending lists of onsets match, each with at most one other.

    >>> match_onsets([1000, 5000], [1400, 4000, 5200])
    Detections(true_positives=2, false_positives=1, false_negatives=0, not_scored=0)
    """
    hits = len(match_in_order([(time - collar_ms, time + collar_ms) for time in reference], hypothesis))
    return Detections(hits, len(hypothesis) - hits, len(reference) - hits)


def timed_detections(
    reference: FileWords, hypothesis: FileWords, collar_ms: float = COLLAR_MS
) -> dict[Disfluency, Detections]:
    """Return the matches by time of every class that either transcript has."""
    reference_times, hypothesis_times = word_times(reference), word_times(hypothesis)
    expected, actual = _onsets(reference, reference_times), _onsets(hypothesis, hypothesis_times)
    has_no_times = any(len(times) and np.isnan(times).all() for times in (reference_times, hypothesis_times))
    by_class = {}
    for kind in dict.fromkeys((*expected, *actual)):
        onsets = expected.get(kind, [])
        if has_no_times:
            by_class[kind] = Detections(not_scored=len(onsets))
            continue
        times = sorted(time for time in onsets if not isnan(time))
        actual_times = sorted(time for time in actual.get(kind, []) if not isnan(time))
        by_class[kind] = match_onsets(times, actual_times, collar_ms) + Detections(not_scored=len(onsets) - len(times))
    return by_class


def _onsets(words: FileWords, times: _Floats) -> dict[Disfluency, list[float]]:
    """Return the onsets of the events of each class in milliseconds; nan if unknown."""
    onsets: dict[Disfluency, list[float]] = {}
    starts, ends = times[:, 0].tolist(), times[:, 1].tolist()
    for event in words.events:
        if event.start < event.end:
            at = starts[event.start]
        elif event.start:  # a pause begins where the word before it ends
            at = ends[event.start - 1]
        else:
            at = starts[0] if starts else nan
        onsets.setdefault(event.kind, []).append(at)
    return onsets
