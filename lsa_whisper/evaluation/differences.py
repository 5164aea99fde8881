"""Differences between systems on the same recordings, in every metric and in every class that both can write.

One metric, declared beforehand, decides which system is better. All other metrics and classes are tested as one family,
so that their number does not make equal systems look different.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lsa_whisper.errors import CorpusError
from lsa_whisper.page.language import gettext, page_number
from lsa_whisper.page.terms import CLASSES
from lsa_whisper.page.text import range_text
from lsa_whisper.scoring.bootstrap import Floats, Interval
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.metrics import METRICS, Metric, class_f1
from lsa_whisper.scoring.swaps import family_p_values
from lsa_whisper.scoring.system import System

CLASS_METRICS = tuple(
    Metric(kind.value, CLASSES[kind][0], "F1", CLASSES[kind][1], False, class_f1(kind)) for kind in SCORED
)
"""The F1 of each class of disfluency as a metric, so that systems are compared class by class, too."""

MAIN_METRICS = tuple(metric for metric in METRICS if metric.key in {"wer_verbatim", "wer_fluent", "disfluency_f1"})
"""The metrics that everybody needs: words as spoken, words without disfluencies, disfluencies."""

ENOUGH_UNITS = 6
"""With five persons or files, even a difference of the same sign in all has p > 0.05 (2 / 2**5)."""
ENOUGH_EVENTS = 50
"""So many disfluencies in the references let their F1 decide between systems; with fewer, word errors decide."""
LEVEL = 0.05


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
    p: float | None = None
    """Corrected for all comparisons of its family (:mod:`lsa_whisper.scoring.swaps`); ``None``: not tested."""
    decides: bool = False
    """Whether it is of the metric that decides which system is better, a family of its own."""

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.values[0] - self.values[1]

    @property
    def better(self) -> str | None:
        """The better system; ``None`` unless p is at most :data:`LEVEL` and the interval excludes 0."""
        if self.p is None or self.p > LEVEL or self.interval is None or not self.interval.excludes_zero:
            return None
        return self.first if (self.difference < 0) == self.metric.lower_is_better else self.second

    @property
    def points(self) -> str:
        """The size of the difference with its interval, regardless of its sign.

        >>> from lsa_whisper.scoring.metrics import METRICS
        >>> Difference(METRICS[0], "a", "b", (0.1, 0.22), Interval(-0.15, -0.1)).points
        '12.0 points (10.0 to 15.0)'
        """
        size = gettext("{size:.1f} points").format(size=100 * abs(self.difference))
        if self.interval is None:
            return size
        low, high = sorted((100 * abs(self.interval.low), 100 * abs(self.interval.high)))
        return f"{size} ({range_text(page_number(f'{low:.1f}'), page_number(f'{high:.1f}'))})"

    def worse(self, better: str) -> str:
        """Return the other system than ``better``."""
        return self.second if better == self.first else self.first

    def __str__(self) -> str:
        text = f"{self.first} - {self.second}: {100 * self.difference:+.1f} points"
        if self.interval is None:
            return text
        return f"{text}, 95 % confidence interval {100 * self.interval.low:+.1f} to {100 * self.interval.high:+.1f}"


def deciding_metric(systems: Sequence[System], decide: str = "auto") -> Metric:
    """Return the metric that decides which system is better.

    ``auto`` is F1 of all disfluencies where the references have enough of them and all systems write the same classes,
    else verbatim word errors.

    Raises:
        CorpusError: ``decide`` names an unknown metric.
    """
    by_key = {metric.key: metric for metric in METRICS}
    if decide != "auto":
        if decide not in by_key:
            raise CorpusError(f"`decide={decide}`: no such metric; choose auto or one of {', '.join(by_key)}")
        return by_key[decide]
    same_classes = len({system.supported_classes for system in systems}) < 2
    detections = systems[0].disfluency.together if systems else Detections()
    enough = detections.true_positives + detections.false_negatives >= ENOUGH_EVENTS
    return by_key["disfluency_f1" if same_classes and enough else "wer_verbatim"]


def differences(systems: Sequence[System], decide: str = "auto") -> Iterator[Difference]:
    """Yield every pair of systems in every metric that is defined for both and covers the same classes.

    Those in the metric that decides come first.
    """
    if len(systems) < 2:
        return
    deciding = deciding_metric(systems, decide)
    rest = [metric for metric in (*METRICS, *CLASS_METRICS) if metric is not deciding]
    yield from _family(systems, [deciding], decides=True)
    yield from _family(systems, rest, decides=False)


def _family(systems: Sequence[System], metrics: Sequence[Metric], *, decides: bool) -> Iterator[Difference]:
    """Yield the differences in ``metrics``, their p values corrected for all of them and all pairs of systems."""
    counts = [system.unit_counts([metric.fraction for metric in metrics]) for system in systems]
    above, below = (np.stack([count[part] for count in counts]) for part in (0, 1))
    pairs = list(combinations(range(len(systems)), 2))
    defined = [[_comparable(systems[left], systems[right], metric) for metric in metrics] for left, right in pairs]
    tested = [
        [defined[row][at] and _units(below[[left, right], :, at]) >= ENOUGH_UNITS for at in range(len(metrics))]
        for row, (left, right) in enumerate(pairs)
    ]
    p_values = family_p_values(above, below, np.array(tested, dtype=np.bool_))
    for row, (left, right) in enumerate(pairs):
        for at, metric in enumerate(metrics):
            if defined[row][at]:
                first, second = systems[left], systems[right]
                values = first.value(metric) or 0.0, second.value(metric) or 0.0
                interval = first.difference_interval(second, metric)
                p = float(p_values[row, at]) if tested[row][at] else None
                yield Difference(metric, first.name, second.name, values, interval, p, decides)


def _units(below: Floats) -> int:
    """Return the number of persons or files in which either system has anything that the metric counts."""
    return int((below > 0).any(axis=0).sum())


def _comparable(first: System, second: System, metric: Metric) -> bool:
    different_classes = metric.over_supported_classes and first.supported_classes != second.supported_classes
    return not different_classes and first.value(metric) is not None and second.value(metric) is not None
