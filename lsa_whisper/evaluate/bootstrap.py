"""How sure a rate is: percentile intervals from resampling whole files (or speakers), never single words.

Conventions:

- The resampled unit is what is independent: a file, or a speaker with all of their files. Words and utterances of one
  recording are not, and treating them so makes intervals too narrow.
- A rate of a resample is the ratio of its summed counts, as the rate of the whole is.
- Two systems are compared on the same resamples (paired). One is called better only where the interval of the
  difference excludes 0 (Bisani & Ney 2004, "Bootstrap estimates for confidence intervals in ASR evaluation").
- Fewer than two units have no interval: ``None``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_AT_ONCE = 256
"""How many resamples are worked on at once."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a value lies with the given confidence."""

    low: float
    high: float
    confidence: float = 0.95

    @property
    def excludes_zero(self) -> bool:
        """Whether zero is outside, so that the sign of the value is not chance."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Resamples:
    """How often each unit was drawn: ``weights`` of shape (samples, units), every row summing to ``units``.

    They are by far the largest thing that is kept of an evaluation, so they are small numbers, worked on in parts.
    """

    weights: NDArray[np.uint16]

    @classmethod
    def draw(cls, units: int, *, samples: int = 2000, seed: int = 0) -> Resamples:
        """Return ``samples`` draws of ``units`` units with replacement; the same seed gives the same draws."""
        weights = np.zeros((samples, max(units, 0)), dtype=np.uint16)
        generator = np.random.default_rng(seed)
        for part in _parts(samples) if units > 0 else ():
            weights[part] = generator.multinomial(units, np.full(units, 1 / units), size=len(weights[part]))
        return cls(weights)

    @property
    def units(self) -> int:
        """How many units were resampled."""
        return int(self.weights.shape[1])

    def ratios(self, numerators: ArrayLike, denominators: ArrayLike) -> Floats:
        """Return each resample's rate, shape (samples,); ``nan`` where its denominator is 0.

        Args:
            numerators: per unit, shape (units,).
            denominators: per unit, shape (units,).
        """
        counts = np.stack([np.asarray(each, dtype=np.float64) for each in (numerators, denominators)], axis=1)
        sums = [self.weights[part].astype(np.float64) @ counts for part in _parts(len(self.weights))]
        above, below = np.concatenate(sums).T if sums else np.zeros((2, 0))
        rates: Floats = np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)
        return rates

    def interval(self, numerators: ArrayLike, denominators: ArrayLike, confidence: float = 0.95) -> Interval | None:
        """Return the interval of a rate.

        >>> Resamples.draw(2, samples=100).interval([1, 1], [10, 10])
        Interval(low=0.1, high=0.1, confidence=0.95)
        >>> Resamples.draw(1).interval([1], [10]) is None
        True
        """
        return self._percentiles(self.ratios(numerators, denominators), confidence)

    def difference(
        self, first: Sequence[ArrayLike], second: Sequence[ArrayLike], confidence: float = 0.95
    ) -> Interval | None:
        """Return the interval of the first rate minus the second; each is (numerators, denominators)."""
        return self._percentiles(self.ratios(*first) - self.ratios(*second), confidence)

    def _percentiles(self, values: Floats, confidence: float) -> Interval | None:
        defined = values[~np.isnan(values)]
        if self.units < 2 or not len(defined):
            return None
        tail = 50 * (1 - confidence)
        low, high = np.percentile(defined, [tail, 100 - tail])
        return Interval(float(low), float(high), confidence)


def _parts(samples: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, samples, _AT_ONCE))
