"""Agreement of a measure between hypotheses and references, sample by sample: bias, limits of agreement, ICC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over ``samples`` pairs. Errors are hypothesis minus reference.

    ``low`` and ``high`` are Bland and Altman's 95 % limits of agreement (1986): bias -/+ 1.96 standard deviations of
    the errors, from 3 samples on. ``icc`` is ICC(A,1), two-way, absolute agreement (McGraw & Wong 1996).
    """

    samples: int
    reference_mean: float | None = None
    hypothesis_mean: float | None = None
    bias: float | None = None
    mean_absolute: float | None = None
    low: float | None = None
    high: float | None = None
    icc: float | None = None


def agreement(pairs: Iterable[tuple[float | None, float | None]]) -> Agreement:
    """Return the agreement of (reference, hypothesis) pairs; one with an undefined value (``None``, nan) is skipped.

    >>> agreement([(1, 2), (2, 3), (3, 4), (None, 1)]).bias
    1.0
    >>> agreement([])
    Agreement(samples=0, ...)
    """
    table = np.array([*pairs], dtype=np.float64).reshape(-1, 2)  # None becomes nan
    table = table[~np.isnan(table).any(axis=1)]
    if not len(table):
        return Agreement(0)
    errors = table[:, 1] - table[:, 0]
    bias = float(errors.mean())
    spread = 1.96 * float(errors.std(ddof=1)) if len(table) >= 3 else None
    return Agreement(
        samples=len(table),
        reference_mean=float(table[:, 0].mean()),
        hypothesis_mean=float(table[:, 1].mean()),
        bias=bias,
        mean_absolute=float(np.abs(errors).mean()),
        low=None if spread is None else bias - spread,
        high=None if spread is None else bias + spread,
        icc=_icc(table) if len(table) >= 3 else None,
    )


def _icc(table: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float | None:
    """Return ICC(A,1) of a (samples, 2) table; ``None`` when nothing varies."""
    samples, raters = table.shape
    centre = table.mean()
    rows = raters * float(((table.mean(axis=1) - centre) ** 2).sum()) / (samples - 1)
    columns = samples * float(((table.mean(axis=0) - centre) ** 2).sum()) / (raters - 1)
    residual = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + centre
    error = float((residual**2).sum()) / ((samples - 1) * (raters - 1))
    below = rows + (raters - 1) * error + raters * (columns - error) / samples
    return (rows - error) / below if abs(below) > 1e-12 else None
