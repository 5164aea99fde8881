"""Differences between systems on the same recordings, in every metric and in every class that both can write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from lsa_whisper.page.terms import CLASSES
from lsa_whisper.scoring.bootstrap import Interval
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.metrics import METRICS, Metric, class_f1
from lsa_whisper.scoring.system import System

CLASS_METRICS = tuple(
    Metric(kind.value, CLASSES[kind][0], "F1", CLASSES[kind][1], False, class_f1(kind)) for kind in SCORED
)
"""The F1 of each class of disfluency as a metric, so that systems are compared class by class, too."""

MAIN_METRICS = tuple(metric for metric in METRICS if metric.key in {"wer_verbatim", "wer_fluent", "disfluency_f1"})
"""The metrics that everybody needs: words as spoken, words without disfluencies, disfluencies."""

ENOUGH_FILES = 6
"""With five files or fewer, even a difference of the same sign in all has p > 0.05 (2 / 2**5)."""


@dataclass(frozen=True)
class Difference:
    """How two systems differ in one metric, on the same resamples."""

    metric: Metric
    first: str
    second: str
    values: tuple[float, float]
    """Of the first system, of the second."""
    interval: Interval | None
    """Of :attr:`difference`."""
    files: int
    """The number of files in which either system has anything that the metric counts."""

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.values[0] - self.values[1]

    @property
    def better(self) -> str | None:
        """The better system; ``None`` unless the interval excludes 0 and there are :data:`ENOUGH_FILES`."""
        if self.interval is None or not self.interval.excludes_zero or self.files < ENOUGH_FILES:
            return None
        return self.first if (self.difference < 0) == self.metric.lower_is_better else self.second

    @property
    def points(self) -> str:
        """The size of the difference with its interval, regardless of its sign.

        >>> from lsa_whisper.scoring.metrics import METRICS
        >>> Difference(METRICS[0], "a", "b", (0.1, 0.22), Interval(-0.15, -0.1), 6).points
        '12.0 points (10.0 to 15.0)'
        """
        size = f"{100 * abs(self.difference):.1f} points"
        if self.interval is None:
            return size
        low, high = sorted((100 * abs(self.interval.low), 100 * abs(self.interval.high)))
        return f"{size} ({low:.1f} to {high:.1f})"

    def worse(self, better: str) -> str:
        """Return the other system than ``better``."""
        return self.second if better == self.first else self.first

    def __str__(self) -> str:
        text = f"{self.first} - {self.second}: {100 * self.difference:+.1f} points"
        if self.interval is None:
            return text
        return f"{text}, 95 % confidence interval {100 * self.interval.low:+.1f} to {100 * self.interval.high:+.1f}"


def differences(systems: Sequence[System]) -> Iterator[Difference]:
    """Yield every pair of systems in every metric that is defined for both and covers the same classes."""
    for first, second in combinations(systems, 2):
        for metric in (*METRICS, *CLASS_METRICS):
            one, other = first.value(metric), second.value(metric)
            different_classes = metric.over_supported_classes and first.supported_classes != second.supported_classes
            if one is None or other is None or different_classes:
                continue
            interval = first.difference_interval(second, metric)
            files = int((first.scored_in(metric) | second.scored_in(metric)).sum())
            yield Difference(metric, first.name, second.name, (one, other), interval, files)
