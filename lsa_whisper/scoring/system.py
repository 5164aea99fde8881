"""The scores of one system over all files: sums of counts, and intervals from resampling persons or files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.agreement import Agreement, agreement
from lsa_whisper.scoring.bootstrap import Floats, Interval, Resamples
from lsa_whisper.scoring.counts import WordErrors, ratio
from lsa_whisper.scoring.disfluency import SCORED, DisfluencyScores, supported_classes
from lsa_whisper.scoring.file_scores import FileCounts, Totals
from lsa_whisper.scoring.groups import band_sort_key
from lsa_whisper.scoring.metrics import METRICS, Classes, Fraction, Metric, class_f1

_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class System:
    """All scores of one system; every figure is a sum over its ``files``."""

    name: str
    files: Sequence[FileCounts]
    total: Totals
    resamples: Resamples
    has_marks: bool = True
    """False if the system writes no disfluency marks, so that they were inferred from its words (see ``words``)."""
    unpaired: tuple[Path, ...] = ()
    """Its files that match no reference."""
    left_out: frozenset[Disfluency] = frozenset()
    """The classes that the model of its transcripts does not write, as their headers say; without those observed."""
    persons: _Ints | None = None
    """The person of each file, from 0 on, so that the files of one are resampled together; ``None``: each its own."""

    @cached_property
    def supported_classes(self) -> frozenset[Disfluency]:
        """The classes that the system supports; the others are not scored."""
        classes = frozenset(self.total.written)
        # Repetitions inferred from the words of an unmarked system do not show that it marks retraces.
        return supported_classes(classes if self.has_marks else classes & {Disfluency.PAUSE}) - self.left_out

    @property
    def has_gaps(self) -> bool:
        """Whether the references have disfluencies of a class that is left out, so that no total is complete."""
        return any(self.total.disfluency[kind].reference_events for kind in self.left_out)

    @cached_property
    def disfluency(self) -> DisfluencyScores:
        """Detections by class: ``system.disfluency[Disfluency.FRAGMENT].recall``."""
        return self.total.disfluency.only(self.supported_classes)

    @cached_property
    def timed(self) -> DisfluencyScores:
        """Detections by class and time, regardless of words."""
        return self.total.timed.only(self.supported_classes)

    def word_errors_by(self, group: str) -> dict[str, WordErrors]:
        """Return verbatim errors by ``role``, ``age`` or ``length`` of the utterance, in that order."""
        total = self.total.groups[group]
        return {label: total[label] for label in sorted(total, key=band_sort_key)}

    @property
    def word_errors_verbatim(self) -> WordErrors:
        """All spoken words, fillers folded."""
        return self.total.verbatim

    @property
    def word_errors_fluent(self) -> WordErrors:
        """Words without disfluencies, on both sides."""
        return self.total.fluent

    @cached_property
    def missing(self) -> list[str]:
        """The references without a hypothesis; all their words count as deleted."""
        return [file.key for file in self.files if file.missing]

    def value(self, metric: Metric) -> float | None:
        """Return the rate over all files; ``None`` of no events, and of a total that lacks a class."""
        if metric.over_supported_classes and self.has_gaps:
            return None
        above, below = self._counts(metric.fraction)
        return ratio(int(above.sum()), int(below.sum()))

    def interval(self, metric: Metric) -> Interval | None:
        """Return the 95 % confidence interval of the rate over persons or files; ``None`` with too few."""
        if metric.over_supported_classes and self.has_gaps:
            return None
        return _possible(self.resamples.interval(self._rates[metric.key]), share=not metric.lower_is_better)

    def class_interval(self, kind: Disfluency) -> Interval | None:
        """Return the interval of one class' F1."""
        return _possible(self.resamples.interval(self._rates[kind]), share=True)

    def difference_interval(self, other: System, metric: Metric) -> Interval | None:
        """Return the interval of this system's rate minus that of ``other``, on the same files."""
        return self.resamples.interval(self._rates[metric.key] - other._rates[metric.key])

    @cached_property
    def _rates(self) -> dict[str, Floats]:
        """The rate of every metric and F1 of every class in each resample; computed together, as drawing is slow."""
        fractions = {metric.key: metric.fraction for metric in METRICS} | {kind: class_f1(kind) for kind in SCORED}
        above, below = self.unit_counts(list(fractions.values()))
        return dict(zip(fractions, self.resamples.ratios(above, below).T, strict=True))

    def unit_counts(self, fractions: Sequence[Callable[[FileCounts, Classes], Fraction]]) -> tuple[Floats, Floats]:
        """Return the numerators and denominators of ``fractions`` per person or file, shape (units, fractions)."""
        above, below = (np.zeros((self.resamples.units, len(fractions))) for _ in range(2))
        units = np.arange(len(self.files)) if self.persons is None else self.persons
        for column, fraction in enumerate(fractions):
            for sums, counts in zip((above, below), self._counts(fraction), strict=True):
                np.add.at(sums[:, column], units, counts)
        return above, below

    def _counts(self, fraction: Callable[[FileCounts, Classes], Fraction]) -> tuple[_Ints, _Ints]:
        """Return a metric's numerators and denominators, one of each per file."""
        counts = [fraction(file, self.supported_classes) for file in self.files]
        above, below = np.array(counts, dtype=np.int64).reshape(-1, 2).T
        return above, below

    def rate_agreement(self, kind: Disfluency) -> Agreement:
        """Return the agreement of events per 100 fluent words over files; empty if the class is not supported."""
        if kind not in self.supported_classes:
            return Agreement(0)
        return agreement(file.rates(file.disfluency[kind]) for file in self.files)

    @property
    def sample_keys(self) -> list[str]:
        """The speakers (and everyone) with language samples on both sides."""
        samples = (sample for file in self.files for sample in file.samples.items())
        return list(dict.fromkeys(speaker for speaker, (_, hypothesis) in samples if hypothesis is not None))

    def language_agreement(self, measure: str, key: str) -> Agreement:
        """Return the agreement of one measure of a :class:`~.language_sample.LanguageSample` over files."""
        pairs = (file.samples[key] for file in self.files if key in file.samples)
        return agreement(
            (getattr(said, measure), getattr(heard, measure)) for said, heard in pairs if heard is not None
        )


def _possible(interval: Interval | None, *, share: bool) -> Interval | None:
    """Return the interval without values that a rate cannot have: below 0, and of a share above 1."""
    if interval is None:
        return None
    return Interval(max(0.0, interval.low), min(1.0, interval.high) if share else interval.high)
