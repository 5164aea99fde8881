"""When each word was said.

Convention: the times of words come from ``%wor`` where it has as many words as the utterance; elsewhere an utterance's
time is shared out among its words by their letters. Words of an utterance without times have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import nan

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.chat import Utterance

Floats = NDArray[np.float64]


def word_times(
    utterances: Sequence[Utterance], utterance_of: NDArray[np.int64], spoken_of: NDArray[np.int64]
) -> Floats:
    """Return the start and end of each word in milliseconds, shape (words, 2); nan where it has none.

    Args:
        utterances: of one file.
        utterance_of: per word, the utterance, shape (words,).
        spoken_of: per word, which of the utterance's spoken words it belongs to, shape (words,).
    """
    times: list[tuple[float, float]] = []
    first = []  # where the spoken words of each utterance begin in ``times``
    for utterance in utterances:
        first.append(len(times))
        times.extend(_spoken_times(utterance))
    if not times:
        return np.full((len(utterance_of), 2), np.nan)
    chosen: Floats = np.array(times, dtype=np.float64)[np.array(first)[utterance_of] + spoken_of]
    return chosen


def _spoken_times(utterance: Utterance) -> list[tuple[float, float]]:
    """Return the start and end of each of an utterance's spoken words."""
    words, span = utterance.verbatim(), utterance.span
    timed = utterance.word_times
    if timed and len(timed) == len(words):
        return [(at.start_ms, at.end_ms) for _, at in timed]
    if span is None:
        return [(nan, nan)] * len(words)
    letters = span.duration_ms / max(sum(map(len, words)) + len(words), 1)
    edges = [span.start_ms + n * letters for n in accumulate((len(word) + 1 for word in words), initial=0)]
    return list(pairwise(edges))
