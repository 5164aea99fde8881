"""Utterances of the two sides that do not overlap in time, so that their words are better not paired."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.scoring.anchors import Ints

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
