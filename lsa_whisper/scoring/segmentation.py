"""Utterance boundaries: whether the hypothesis has them (and pauses) between the same words as the reference.

Convention: a gap of the reference matches a gap of the hypothesis if no aligned word lies between them. The ends of a
file do not count (they always match), and each gap matches at most one other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.words import FileWords


def boundaries(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> Detections:
    """Return the detections of utterance boundaries."""
    return compare_gaps(_boundaries(reference), _boundaries(hypothesis), alignment)


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
    """Return the largest one-to-one matching, as indices into both lists; both ascend.

    The ranges ascend, too, so taking the first fit is optimal.
    """
    pairs, used = [], 0
    lows, highs = _ranges(alignment)
    for number, gap in enumerate(reference):
        while used < len(hypothesis) and hypothesis[used] < lows[gap]:
            used += 1
        if used < len(hypothesis) and hypothesis[used] <= highs[gap]:
            pairs.append((number, used))
            used += 1
    return pairs


def _ranges(alignment: Alignment) -> tuple[list[int], list[int]]:
    """Return, per reference gap, the first and last hypothesis gap with no aligned word between."""
    partners = alignment.to_hypothesis
    before = np.concatenate(([0], np.where(partners == UNALIGNED, 0, partners + 1)))
    after = np.concatenate((np.where(partners == UNALIGNED, len(alignment.to_reference), partners), [UNALIGNED]))
    after[-1] = len(alignment.to_reference)
    return list(np.maximum.accumulate(before)), list(np.minimum.accumulate(after[::-1])[::-1])


def _boundaries(words: FileWords) -> list[int]:
    """Return the gaps where one utterance ends and the next begins."""
    return [int(gap) for gap in np.flatnonzero(np.diff(words.utterance_of)) + 1]
