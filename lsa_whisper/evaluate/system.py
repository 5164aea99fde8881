"""The scores of one system over all files: sums of counts, and intervals from resampling the files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluate.agreement import Agreement, agreement
from lsa_whisper.evaluate.bootstrap import Interval, Resamples
from lsa_whisper.evaluate.confusion import Confusion
from lsa_whisper.evaluate.counts import Detections, WordErrors, ratio
from lsa_whisper.evaluate.disfluency import DisfluencyScores, writable
from lsa_whisper.evaluate.groups import order
from lsa_whisper.evaluate.hallucination import Hallucinations
from lsa_whisper.evaluate.metrics import Metric, class_f1
from lsa_whisper.evaluate.score import FileScores
from lsa_whisper.evaluate.speakers import SpeakerErrors


@dataclass(frozen=True)
class System:
    """Everything scored of one system; every figure is a sum over its ``files``."""

    name: str
    files: tuple[FileScores, ...]
    resamples: Resamples
    marked: bool = True
    """False when it wrote no disfluency mark anywhere, so that its words were marked by us (see ``words``)."""
    unused: tuple[Path, ...] = ()
    """Its files that belong to no reference."""

    @cached_property
    def writable(self) -> frozenset[Disfluency]:
        """The classes it can write; the others are not scored."""
        written = {kind for scores in self.files for kind in scores.written}
        # Without marks of its own, the repetitions in its files are ours, and no sign that it knows retracings.
        return writable(written if self.marked else written & {Disfluency.PAUSE})

    @cached_property
    def disfluency(self) -> DisfluencyScores:
        """Detections by class: ``system.disfluency[Disfluency.FRAGMENT].recall``."""
        scores = sum((scores.disfluency for scores in self.files), DisfluencyScores())
        return scores.only(self.writable)

    @cached_property
    def timed(self) -> DisfluencyScores:
        """Detections by class and time, whatever the words."""
        scores = sum((scores.timed for scores in self.files), DisfluencyScores())
        return scores.only(self.writable)

    @cached_property
    def confusion(self) -> Confusion:
        """What it has where the reference has a disfluency, and the other way round."""
        return sum((scores.confusion for scores in self.files), Counter())

    @property
    def hallucinations(self) -> Hallucinations:
        """What it made up where nobody spoke, in runs, and in loops."""
        return sum((scores.hallucinations for scores in self.files), Hallucinations())

    @property
    def speakers(self) -> SpeakerErrors:
        """Errors that count who said what; all zero unless asked for."""
        return sum((scores.speakers for scores in self.files), SpeakerErrors())

    def published_errors(self, mode: str) -> WordErrors:
        """Return the word errors by the rules of a foreign ``mode``."""
        return sum((scores.published[mode] for scores in self.files), WordErrors())

    def word_errors_by(self, group: str) -> dict[str, WordErrors]:
        """Return verbatim errors by ``role``, ``age`` or ``length`` of the utterance, in that order."""
        total: dict[str, WordErrors] = {}
        for scores in self.files:
            for label, errors in scores.groups[group].items():
                total[label] = total.get(label, WordErrors()) + errors
        return {label: total[label] for label in sorted(total, key=order)}

    @property
    def word_errors_verbatim(self) -> WordErrors:
        """All spoken words, fillers folded."""
        return self._sum("verbatim")

    @property
    def word_errors_verbatim_raw(self) -> WordErrors:
        """All spoken words, fillers as spelled."""
        return self._sum("verbatim_raw")

    @property
    def word_errors_fluent(self) -> WordErrors:
        """The words that were meant; the hypothesis' disfluencies removed."""
        return self._sum("fluent")

    @property
    def word_errors_fluent_raw(self) -> WordErrors:
        """The words that were meant; the hypothesis as it is."""
        return self._sum("fluent_raw")

    @property
    def character_errors_verbatim(self) -> WordErrors:
        """All spoken words, counted in characters."""
        return self._sum("characters")

    @property
    def character_errors_fluent(self) -> WordErrors:
        """The words that were meant, counted in characters; the hypothesis' disfluencies removed."""
        return self._sum("fluent_characters")

    def _sum(self, name: str) -> WordErrors:
        return sum((getattr(scores, name) for scores in self.files), WordErrors())

    @cached_property
    def word_errors_by_speaker(self) -> dict[str, WordErrors]:
        """Verbatim errors per reference speaker code."""
        total: dict[str, WordErrors] = {}
        for scores in self.files:
            for code, errors in scores.by_speaker.items():
                total[code] = total.get(code, WordErrors()) + errors
        return total

    @property
    def boundaries(self) -> Detections:
        """Utterance ends found, made up and missed."""
        return sum((scores.boundaries for scores in self.files), Detections())

    @property
    def missing(self) -> list[str]:
        """The references it has no file for; all their words count as deleted."""
        return [scores.key for scores in self.files if scores.missing]

    @property
    def dropped(self) -> int:
        """How many ``xxx``, ``yyy`` and ``www`` of the hypotheses were left out."""
        return sum(scores.dropped for scores in self.files)

    def value(self, metric: Metric) -> float | None:
        """Return the rate over all files."""
        above, below = self.fractions(metric)
        return ratio(sum(above), sum(below))

    def interval(self, metric: Metric) -> Interval | None:
        """Return where the rate lies (95 %, files resampled); ``None`` with fewer than two files."""
        return self.resamples.interval(*self.fractions(metric))

    def fractions(self, metric: Metric) -> tuple[list[int], list[int]]:
        """Return the metric's numerators and denominators, one of each per file."""
        pairs = [metric.fraction(scores, self.writable) for scores in self.files]
        return [above for above, _ in pairs], [below for _, below in pairs]

    def class_interval(self, kind: Disfluency) -> Interval | None:
        """Return the interval of one class' F1."""
        pairs = [class_f1(kind)(scores, self.writable) for scores in self.files]
        return self.resamples.interval([above for above, _ in pairs], [below for _, below in pairs])

    def rate_agreement(self, kind: Disfluency) -> Agreement:
        """Return how events per 100 meant words agree, file by file; nothing where the class cannot be written."""
        return agreement(scores.rate(kind) for scores in self.files if kind in self.writable)

    @cached_property
    def sample_keys(self) -> list[str]:
        """The speakers (and everyone) that both sides have language samples of."""
        keys = [key for s in self.files for key, (_, heard) in s.samples.items() if heard is not None]
        return list(dict.fromkeys(keys))

    def language_agreement(self, measure: str, key: str) -> Agreement:
        """Return how one of :data:`~lsa_whisper.evaluate.language.MEASURES` agrees, file by file."""
        samples = [s.samples[key] for s in self.files if key in s.samples]
        return agreement((getattr(said, measure), getattr(heard, measure)) for said, heard in samples if heard)
