"""Utterance boundaries: whether the hypothesis has them (and pauses) between the same words as the reference.

Convention: a gap of the reference matches a gap of the hypothesis if no aligned word lies between them. The ends of a
file do not count (they always match), and each gap matches at most one other. An utterance of the reference that is all
``xxx`` or ``www``, for which the hypothesis has no word, is passed over: of the hypothesis, such words are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import Detections, match_in_order
from lsa_whisper.scoring.words import FileWords


def boundaries(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> Detections:
    """Return the detections of utterance boundaries."""
    heard = ~reference.unintelligible | (alignment.to_hypothesis != UNALIGNED)
    spoken = np.flatnonzero(np.isin(reference.utterance_of, reference.utterance_of[heard]))
    everything = np.arange(len(hypothesis.words))
    return compare_gaps(_boundaries(reference, spoken), _boundaries(hypothesis, everything), alignment)


def compare_gaps(reference: Sequence[int], hypothesis: Sequence[int], alignment: Alignment) -> Detections:
    """Return the detections of gaps; gap ``n`` is the position before word ``n``. Both lists ascend.

    >>> from lsa_whisper.scoring.align import align
    >>> aligned = align(["a", "b", "c", "d"], ["a", "x", "c"])
    >>> compare_gaps([2], [2], aligned).true_positives, compare_gaps([2], [1], aligned).true_positives
    (1, 0)
    """
    hits = len(matched_gaps(reference, hypothesis, alignment))
    return Detections(hits, len(hypothesis) - hits, len(reference) - hits)


def matched_gaps(reference: Sequence[int], hypothesis: Sequence[int], alignment: Alignment) -> list[tuple[int, int]]:
    """Return the largest one-to-one matching, as indices into both lists; both ascend."""
    lows, highs = _ranges(alignment)
    return match_in_order([(lows[gap], highs[gap]) for gap in reference], hypothesis)


def _ranges(alignment: Alignment) -> tuple[list[int], list[int]]:
    """Return, per reference gap, the first and last hypothesis gap with no aligned word between."""
    partners, last = alignment.to_hypothesis, len(alignment.to_reference)
    before = np.concatenate(([0], np.where(partners == UNALIGNED, 0, partners + 1)))
    after = np.concatenate((np.where(partners == UNALIGNED, last, partners), [last]))
    return list(np.maximum.accumulate(before)), list(np.minimum.accumulate(after[::-1])[::-1])


def _boundaries(words: FileWords, spoken: NDArray[np.int64]) -> list[int]:
    """Return the gaps where one utterance ends and the next begins, as the words at ``spoken`` show them."""
    return [int(gap) for gap in spoken[1:][np.diff(words.utterance_of[spoken]) > 0]]
