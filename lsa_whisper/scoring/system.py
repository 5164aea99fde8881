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
from lsa_whisper.scoring.confusion import Confusion
from lsa_whisper.scoring.counts import Detections, WordErrors, ratio
from lsa_whisper.scoring.disfluency import SCORED, DisfluencyScores, supported_classes
from lsa_whisper.scoring.file_scores import FileCounts, FileTable, Totals
from lsa_whisper.scoring.groups import band_sort_key
from lsa_whisper.scoring.hallucination import Hallucinations
from lsa_whisper.scoring.metrics import METRICS, Classes, Fraction, Metric, class_f1
from lsa_whisper.scoring.speakers import SpeakerErrors

_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class System:
    """All scores of one system; every figure is a sum over its ``files``."""

    name: str
    files: FileTable
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

    @property
    def confusion(self) -> Confusion:
        """The disfluency confusion matrix."""
        return self.total.confusion

    @property
    def hallucinations(self) -> Hallucinations:
        """Words inserted in silence, in runs and in loops."""
        return self.total.hallucinations

    @property
    def speakers(self) -> SpeakerErrors:
        """Speaker-attributed word errors; all zero unless requested."""
        return self.total.speakers

    def published_errors(self, mode: str) -> WordErrors:
        """Return the word errors by the rules of another tool."""
        return self.total.published[mode]

    def word_errors_by(self, group: str) -> dict[str, WordErrors]:
        """Return verbatim errors by ``role``, ``age`` or ``length`` of the utterance, in that order."""
        total = self.total.groups[group]
        return {label: total[label] for label in sorted(total, key=band_sort_key)}

    @property
    def word_errors_verbatim(self) -> WordErrors:
        """All spoken words, fillers folded."""
        return self.total.verbatim

    @property
    def word_errors_verbatim_raw(self) -> WordErrors:
        """All spoken words, fillers as spelled."""
        return self.total.verbatim_raw

    @property
    def word_errors_fluent(self) -> WordErrors:
        """Words without disfluencies, on both sides."""
        return self.total.fluent

    @property
    def word_errors_fluent_raw(self) -> WordErrors:
        """Reference words without disfluencies; the hypothesis as it is."""
        return self.total.fluent_raw

    @property
    def character_errors_verbatim(self) -> WordErrors:
        """All spoken words, counted in characters."""
        return self.total.characters

    @property
    def character_errors_fluent(self) -> WordErrors:
        """Words without disfluencies on both sides, counted in characters."""
        return self.total.fluent_characters

    @property
    def word_errors_by_speaker(self) -> dict[str, WordErrors]:
        """Verbatim errors per reference speaker code."""
        return self.total.by_speaker

    @property
    def boundaries(self) -> Detections:
        """Detections of utterance boundaries."""
        return self.total.boundaries

    @cached_property
    def missing(self) -> list[str]:
        """The references without a hypothesis; all their words count as deleted."""
        return [key for key, missing in zip(self.files.keys, self.files.missing, strict=True) if missing]

    @property
    def dropped(self) -> int:
        """The number of ``xxx``, ``yyy`` and ``www`` of the hypotheses that were left out."""
        return self.total.dropped

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

    def unit_counts(self, metrics: Sequence[Metric]) -> tuple[Floats, Floats]:
        """Return the numerators and denominators of ``metrics`` per person or file, shape (units, metrics)."""
        return self._by_unit([metric.fraction for metric in metrics])

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
        above, below = self._by_unit(list(fractions.values()))
        return dict(zip(fractions, self.resamples.ratios(above, below).T, strict=True))

    def _by_unit(self, fractions: Sequence[Callable[[FileCounts, Classes], Fraction]]) -> tuple[Floats, Floats]:
        above, below = (np.zeros((self.resamples.units, len(fractions))) for _ in range(2))
        units = np.arange(len(self.files)) if self.persons is None else self.persons
        for column, fraction in enumerate(fractions):
            for sums, counts in zip((above, below), self._counts(fraction), strict=True):
                np.add.at(sums[:, column], units, counts)
        return above, below

    def _counts(self, fraction: Callable[[FileCounts, Classes], Fraction]) -> tuple[_Ints, _Ints]:
        """Return a metric's numerators and denominators, one of each per file."""
        above, below = fraction(self.files.columns, self.supported_classes)
        everywhere = np.zeros(len(self.files), dtype=np.int64)  # for counts that are 0 in every file
        return everywhere + above, everywhere + below

    def rate_agreement(self, kind: Disfluency) -> Agreement:
        """Return the agreement of events per 100 fluent words over files; empty if the class is not supported."""
        if kind not in self.supported_classes:
            return Agreement(0)
        detections, words = self.files.columns.disfluency[kind], self.files.columns.fluent_words
        pairs = zip((detections.reference_events, detections.hypothesis_events), words, strict=True)
        return agreement(zip(*(_per_100(events, of) for events, of in pairs), strict=True))

    @property
    def sample_keys(self) -> list[str]:
        """The speakers (and everyone) with language samples on both sides."""
        return self.files.speakers

    def language_agreement(self, measure: str, key: str) -> Agreement:
        """Return the agreement of one measure of a :class:`~.language_sample.LanguageSample` over files."""
        return agreement(self.files.measured(measure, key))


def _possible(interval: Interval | None, *, share: bool) -> Interval | None:
    """Return the interval without values that a rate cannot have: below 0, and of a share above 1."""
    if interval is None:
        return None
    return Interval(max(0.0, interval.low), min(1.0, interval.high) if share else interval.high)


def _per_100(events: _Ints, words: _Ints) -> list[float]:
    """Return events per 100 words of each file; nan for a file without words."""
    rates = np.full(len(words), np.nan)
    np.divide(100 * events.astype(np.float64), words, out=rates, where=words != 0)
    return [*map(float, rates)]
