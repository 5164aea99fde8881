"""Confidence intervals of rates: the percentile bootstrap over whole files, never single words.

Conventions:

- The resampled unit is the file: words and utterances of one recording are not independent, and treating them so makes
  intervals too narrow. Files are assumed to be independent; if one speaker is in several files, the intervals are too
  narrow. CHAT does not identify persons across files: most references name roles only, and one examiner may be in all.
- A rate of a resample is the ratio of its summed counts, as the rate of the whole is.
- Two systems are compared on the same resamples (paired). One is called better only where the interval of the
  difference excludes 0 (Bisani & Ney 2004, "Bootstrap estimates for confidence intervals in ASR evaluation").
- Fewer than two units have no interval: ``None``.
- The bootstrap gives 0 to 0 for 0 of 4, which is wrong: four misses do not show that a fifth would be missed, too.
  Wilson's score interval (1927, "Probable inference, the law of succession, and statistical inference") is never empty,
  and is used for small counts of small counts. It takes the events as independent. Events of one recording are not, so
  for large counts it is too narrow, and the bootstrap over files is used.
- Fewer than :data:`MIN_EVENTS` events are too few to judge a system by.
- Intervals leave out 2.5 % of the resamples on each side, which requires :data:`MIN_SAMPLES` resamples.
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
            drawn = min(at_once, self.samples - start)
            yield generator.multinomial(self.units, chances, size=drawn).astype(np.float64)

    def ratios(self, numerators: ArrayLike, denominators: ArrayLike) -> Floats:
        """Return each resample's rate; ``nan`` where its denominator is 0.

        Args:
            numerators: per unit, shape (units,), or of several rates at once, shape (units, rates).
            denominators: of the same shape.

        Returns:
            Shape (samples,), or (samples, rates).
        """
        counts = [np.asarray(each, dtype=np.float64) for each in (numerators, denominators)]
        none = [np.zeros((0, *each.shape[1:])) for each in counts]
        sums = [none, *([weights @ each for each in counts] for weights in self.weights())]
        above, below = (np.concatenate(each) for each in zip(*sums, strict=True))
        rates: Floats = np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)
        return rates

    def interval(self, rates: Floats) -> Interval | None:
        """Return the interval of a rate, or of a difference of two on the same resamples, shape (samples,).

        >>> resamples = Resamples(2, samples=100)
        >>> resamples.interval(resamples.ratios([1, 1], [10, 10]))
        Interval(low=0.1, high=0.1)
        """
        defined = rates[~np.isnan(rates)]
        if self.units < 2 or not len(defined):
            return None
        tail = 50 * (1 - CONFIDENCE)
        low, high = np.percentile(defined, [tail, 100 - tail])
        return Interval(float(low), float(high))


MIN_EVENTS = 10
"""With fewer, Wilson's interval around one half is more than 50 points wide."""


def wilson_interval(found: int, of: int) -> Interval | None:
    """Return the 95 % interval of the share ``found`` / ``of``; ``None`` of nothing.

    >>> wilson_interval(0, 4)
    Interval(low=0.0, high=0.489...)
    >>> wilson_interval(0, 0) is None
    True
    """
    if not of:
        return None
    from scipy.stats import binomtest

    limits = binomtest(found, of).proportion_ci(method="wilson")
    return Interval(float(limits.low), float(limits.high))
