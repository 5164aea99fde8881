"""Confidence intervals of a share that is a small count of a small count: Wilson's score interval.

Conventions:

- The bootstrap gives 0 to 0 for 0 of 4, which is wrong: four misses do not show that a fifth would be missed, too.
  Wilson's interval (1927, "Probable inference, the law of succession, and statistical inference") is never empty.
- It takes the events as independent. Events of one recording are not, so for large counts it is too narrow, and the
  bootstrap over files is used.
- Fewer than :data:`MIN_EVENTS` events are too few to judge a system by.
"""

from __future__ import annotations

from lsa_whisper.scoring.bootstrap import Interval

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
