"""Distribution of a measure over rows: quartiles, outliers, histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Distribution:
    """The values of one measure.

    >>> Distribution([1, 2, 2, 3, 30]).quartiles, Distribution([1, 2, 2, 3, 30]).outliers
    ([1.0, 2.0, 2.0, 3.0, 30.0], 1)
    """

    values: Sequence[float]

    @property
    def quartiles(self) -> list[float] | None:
        """Minimum, lower quartile, median, upper quartile, maximum; ``None`` without values."""
        if not len(self.values):
            return None
        return [float(value) for value in np.quantile(np.asarray(self.values, float), (0, 0.25, 0.5, 0.75, 1))]

    @property
    def fences(self) -> tuple[float, float] | None:
        """Tukey's fences: 1.5 interquartile ranges below the lower and above the upper quartile."""
        if (quartiles := self.quartiles) is None:
            return None
        _, low, _, high, _ = quartiles
        return low - 1.5 * (high - low), high + 1.5 * (high - low)

    @property
    def outliers(self) -> int:
        """The number of values outside the fences."""
        if (fences := self.fences) is None:
            return 0
        values = np.asarray(self.values, float)
        return int(((values < fences[0]) | (values > fences[1])).sum())

    def histogram(self, top: float = 0.0, *, bins: int = 30) -> tuple[list[int], float]:
        """Return counts in equal bins from 0 to the larger of ``top`` and the maximum, and the width of a bin."""
        top = max(top, float(np.max(self.values)) if len(self.values) else 0.0) or 1.0
        counts, edges = np.histogram(np.asarray(self.values, float), bins=bins, range=(0.0, top))
        return [int(count) for count in counts], float(edges[1])

    def as_dict(self) -> dict[str, Any] | None:
        """Return the quartiles by name, ready for JSON; ``None`` without values."""
        if (quartiles := self.quartiles) is None:
            return None
        names = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
        return {name: round(value, 3) for name, value in zip(names, quartiles, strict=True)}
