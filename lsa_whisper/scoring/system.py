"""The scores of one system over all files: sums of counts, and intervals from resampling the files."""

from __future__ import annotations

from collections.abc import Callable
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
from lsa_whisper.scoring.disfluency import SCORED, DisfluencyScores, writable
from lsa_whisper.scoring.file_scores import FileCounts, Totals
from lsa_whisper.scoring.file_table import FileTable
from lsa_whisper.scoring.groups import order
from lsa_whisper.scoring.hallucination import Hallucinations
from lsa_whisper.scoring.metrics import METRICS, Fraction, Metric, Writable, class_f1
from lsa_whisper.scoring.speakers import SpeakerErrors

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class System:
    """Everything scored of one system; every figure is a sum over its ``files``."""

    name: str
    files: FileTable
    total: Totals
    resamples: Resamples
    marked: bool = True
    """False when it wrote no disfluency mark anywhere, so that its words were marked by us (see ``words``)."""
    unused: tuple[Path, ...] = ()
    """Its files that belong to no reference."""

    @cached_property
    def writable(self) -> frozenset[Disfluency]:
        """The classes it can write; the others are not scored."""
        written = frozenset(self.total.written)
        # Without marks of its own, the repetitions in its files are ours, and no sign that it knows retracings.
        return writable(written if self.marked else written & {Disfluency.PAUSE})

    @cached_property
    def disfluency(self) -> DisfluencyScores:
        """Detections by class: ``system.disfluency[Disfluency.FRAGMENT].recall``."""
        return self.total.disfluency.only(self.writable)

    @cached_property
    def timed(self) -> DisfluencyScores:
        """Detections by class and time, whatever the words."""
        return self.total.timed.only(self.writable)

    @property
    def confusion(self) -> Confusion:
        """What it has where the reference has a disfluency, and the other way round."""
        return self.total.confusion

    @property
    def hallucinations(self) -> Hallucinations:
        """What it made up where nobody spoke, in runs, and in loops."""
        return self.total.hallucinations

    @property
    def speakers(self) -> SpeakerErrors:
        """Errors that count who said what; all zero unless asked for."""
        return self.total.speakers

    def published_errors(self, mode: str) -> WordErrors:
        """Return the word errors by the rules of a foreign ``mode``."""
        return self.total.published[mode]

    def word_errors_by(self, group: str) -> dict[str, WordErrors]:
        """Return verbatim errors by ``role``, ``age`` or ``length`` of the utterance, in that order."""
        total = self.total.groups[group]
        return {label: total[label] for label in sorted(total, key=order)}

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
        """The words that were meant; the hypothesis' disfluencies removed."""
        return self.total.fluent

    @property
    def word_errors_fluent_raw(self) -> WordErrors:
        """The words that were meant; the hypothesis as it is."""
        return self.total.fluent_raw

    @property
    def character_errors_verbatim(self) -> WordErrors:
        """All spoken words, counted in characters."""
        return self.total.characters

    @property
    def character_errors_fluent(self) -> WordErrors:
        """The words that were meant, counted in characters; the hypothesis' disfluencies removed."""
        return self.total.fluent_characters

    @property
    def word_errors_by_speaker(self) -> dict[str, WordErrors]:
        """Verbatim errors per reference speaker code."""
        return self.total.by_speaker

    @property
    def boundaries(self) -> Detections:
        """Utterance ends found, made up and missed."""
        return self.total.boundaries

    @cached_property
    def missing(self) -> list[str]:
        """The references it has no file for; all their words count as deleted."""
        return [key for key, missing in zip(self.files.keys, self.files.missing, strict=True) if missing]

    @property
    def dropped(self) -> int:
        """How many ``xxx``, ``yyy`` and ``www`` of the hypotheses were left out."""
        return self.total.dropped

    def value(self, metric: Metric) -> float | None:
        """Return the rate over all files."""
        above, below = self._counts(metric.fraction)
        return ratio(int(above.sum()), int(below.sum()))

    def interval(self, metric: Metric) -> Interval | None:
        """Return where the rate lies (95 %, files resampled); ``None`` with fewer than two files."""
        return self.resamples.interval(self._rates[metric.key])

    def class_interval(self, kind: Disfluency) -> Interval | None:
        """Return the interval of one class' F1."""
        return self.resamples.interval(self._rates[kind])

    def less(self, other: System, metric: Metric) -> Interval | None:
        """Return where this system's rate less that of ``other``, on the same files, lies."""
        return self.resamples.interval(self._rates[metric.key] - other._rates[metric.key])

    @cached_property
    def _rates(self) -> dict[str, Floats]:
        """The rate of every metric, and F1 of every class, in each resample; all at once, for drawing takes time."""
        fractions = {metric.key: metric.fraction for metric in METRICS} | {kind: class_f1(kind) for kind in SCORED}
        above, below = (np.empty((len(self.files), len(fractions))) for _ in range(2))
        for column, fraction in enumerate(fractions.values()):
            above[:, column], below[:, column] = self._counts(fraction)
        return dict(zip(fractions, self.resamples.ratios(above, below).T, strict=True))

    def _counts(self, fraction: Callable[[FileCounts, Writable], Fraction]) -> tuple[Ints, Ints]:
        """Return a metric's numerators and denominators, one of each per file."""
        above, below = fraction(self.files.columns, self.writable)
        everywhere = np.zeros(len(self.files), dtype=np.int64)  # for counts that are 0 whatever the file
        return everywhere + above, everywhere + below

    def rate_agreement(self, kind: Disfluency) -> Agreement:
        """Return how events per 100 meant words agree, file by file; nothing where the class cannot be written."""
        if kind not in self.writable:
            return Agreement(0)
        found, words = self.files.columns.disfluency[kind], self.files.columns.fluent_words
        pairs = zip((found.reference_events, found.hypothesis_events), words, strict=True)
        return agreement(zip(*(_per_100(events, of) for events, of in pairs), strict=True))

    @property
    def sample_keys(self) -> list[str]:
        """The speakers (and everyone) that both sides have language samples of."""
        return self.files.speakers

    def language_agreement(self, measure: str, key: str) -> Agreement:
        """Return how one of :data:`~lsa_whisper.evaluate.glossary.MEASURES` agrees, file by file."""
        return agreement(self.files.measured(measure, key))


def _per_100(events: Ints, words: Ints) -> list[float]:
    """Return events per 100 words of each file; nan for a file without words."""
    rates = np.full(len(words), np.nan)
    np.divide(100 * events.astype(np.float64), words, out=rates, where=words != 0)
    return [*map(float, rates)]
