"""Confidence intervals of rates: the bootstrap over persons or files, never single words, widened for few of them.

Conventions:

- The resampled unit is the person, or the file where each has its own: words and utterances of one recording, and
  recordings of one person, are not independent, and treating them so makes intervals too narrow.
- A rate of a resample is the ratio of its summed counts, as the rate of the whole is.
- The percentiles are those of the expanded percentile interval (Hesterberg 2015, "What teachers should know about the
  bootstrap"), because plain ones are too narrow for few units. With fewer than :data:`MANY_UNITS`, whose resamples are
  few, too, the interval also covers the t interval from their standard deviation.
- Fewer than :data:`MIN_UNITS` units have no interval: ``None``.
- Two systems are compared on the same resamples (paired); :mod:`.swaps` tests whether they differ.
- The bootstrap gives 0 to 0 for 0 of 4, which is wrong: four misses do not show that a fifth would be missed, too.
  Wilson's score interval (1927, "Probable inference, the law of succession, and statistical inference") is never empty,
  and is used for small counts of small counts. It takes the events as independent. Events of one recording are not, so
  for large counts it is too narrow, and the bootstrap over files is used.
- Fewer than :data:`MIN_EVENTS` events are too few to judge a system by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
SAMPLES = 2000
"""The default number of resamples."""
MIN_SAMPLES = 40
"""With fewer, the percentiles of an interval are those of the outermost resamples."""
MIN_UNITS = 4
"""With fewer files, no method covers the true rate often enough: plain percentiles 49 % with two, 75 % with three."""
MANY_UNITS = 30
"""Below it, the expanded percentiles alone cover 88 % with four units, 92 % with six; with the t interval 94 %."""

_CELLS = 1 << 15
"""The number of weights computed at once (a quarter of a megabyte)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; its level is :data:`CONFIDENCE`."""

    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether zero is outside, so that the sign of the value is significant."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Resamples:
    """``samples`` draws of ``units`` units with replacement; the same seed gives the same draws.

    Kept in memory they would be the largest part of an evaluation, so they are drawn again when needed.
    """

    units: int
    samples: int = SAMPLES
    seed: int = 0

    def weights(self) -> Iterator[Floats]:
        """Yield, in blocks of rows, the number of draws of each unit; every row sums to ``units``."""
        generator = np.random.default_rng(self.seed)
        chances = np.full(self.units, 1 / max(self.units, 1))
        at_once = max(_CELLS // max(self.units, 1), 1)
        for start in range(0, self.samples if self.units else 0, at_once):
            count = min(at_once, self.samples - start)
            yield generator.multinomial(self.units, chances, size=count).astype(np.float64)

    def ratios(self, numerators: ArrayLike, denominators: ArrayLike) -> Floats:
        """Return each resample's rate; ``nan`` where its denominator is 0.

        Args:
            numerators: Per unit, shape (units,), or of several rates at once, shape (units, rates).
            denominators: Of the same shape.

        Returns:
            Shape (samples,), or (samples, rates).
        """
        counts = [np.asarray(values, dtype=np.float64) for values in (numerators, denominators)]
        empty = [np.zeros((0, *count.shape[1:])) for count in counts]
        sums = [empty, *([weights @ count for count in counts] for weights in self.weights())]
        above, below = (np.concatenate(blocks) for blocks in zip(*sums, strict=True))
        rates: Floats = np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)
        return rates

    def interval(self, rates: Floats) -> Interval | None:
        """Return the interval of a rate, or of a difference of two on the same resamples, shape (samples,).

        >>> resamples = Resamples(4, samples=100)
        >>> resamples.interval(resamples.ratios([1, 1, 1, 1], [10, 10, 10, 10]))
        Interval(low=0.1, high=0.1)
        """
        defined = rates[~np.isnan(rates)]
        if self.units < MIN_UNITS or not len(defined):
            return None
        from scipy.stats import norm

        tail = 100 * float(norm.cdf(-self._quantile()))  # for many units 2.5
        low, high = np.percentile(defined, (tail, 100 - tail))
        if self.units < MANY_UNITS and low < high:
            middle, half = float(defined.mean()), self._quantile() * float(defined.std())
            low, high = min(low, middle - half), max(high, middle + half)
        return Interval(float(low), float(high))

    def _quantile(self) -> float:
        """Return half the width of the interval in standard deviations of the resamples: t, and n / (n - 1)."""
        from scipy.stats import t

        spread = float(np.sqrt(self.units / (self.units - 1)))
        return float(t.ppf((1 + CONFIDENCE) / 2, self.units - 1)) * spread


MIN_EVENTS = 10
"""With fewer, Wilson's interval around one half is more than 50 points wide."""


def wilson_interval(count: int, of: int) -> Interval | None:
    """Return the 95 % interval of the share ``count`` / ``of``; ``None`` of nothing.

    >>> wilson_interval(0, 4)
    Interval(low=0.0, high=0.489...)
    >>> wilson_interval(0, 0) is None
    True
    """
    if not of:
        return None
    from scipy.stats import binomtest

    limits = binomtest(count, of).proportion_ci(method="wilson")
    return Interval(float(limits.low), float(limits.high))
