"""The results of an evaluation: several systems over the same references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from textwrap import fill

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation.cells import percent
from lsa_whisper.evaluation.differences import CLASS_METRICS, ENOUGH_UNITS, MAIN_METRICS, Difference, differences
from lsa_whisper.evaluation.fluency_count import fluency_answers
from lsa_whisper.evaluation.material import Material
from lsa_whisper.evaluation.report_rows import ReportRows
from lsa_whisper.evaluation.verdict import comparison, verdict
from lsa_whisper.evaluation.word_counts import WordCounts
from lsa_whisper.labels import NOT_TRANSCRIBED
from lsa_whisper.page.language import gettext
from lsa_whisper.page.terms import CLASSES
from lsa_whisper.page.text import join_names, text_table
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.metrics import METRICS, Metric
from lsa_whisper.scoring.published import MODES
from lsa_whisper.scoring.score_file import ScoringOptions
from lsa_whisper.scoring.system import System
from lsa_whisper.scoring.verbatim_benchmark import pooled

_SYSTEMS_AT_ONCE = 3
"""How many systems fit beside each other into 80 columns."""


@dataclass(frozen=True)
class Evaluation:
    """The result of :func:`~lsa_whisper.evaluation.evaluate`."""

    reference: Path
    systems: dict[str, System]
    samples: int
    options: ScoringOptions = field(default_factory=ScoringOptions)
    """The options of scoring."""
    material: Material = field(default_factory=Material)
    """What was evaluated: recordings, speakers, languages, models."""
    rows: ReportRows = field(default_factory=ReportRows)
    """The aligned utterances, if a report was requested."""
    words: dict[str, WordCounts] = field(default_factory=dict)
    """Per system, the words that it gets wrong, if a report was requested."""
    report: Path | None = None
    """The HTML report, if one was written."""
    decide: str = "auto"
    """The metric that decides which system is better: see :func:`~.differences.deciding_metric`."""

    @cached_property
    def differences(self) -> list[Difference]:
        """Every pair of systems in every metric and class that is defined for both and covers the same classes."""
        return list(differences(self._all, self.decide))

    @property
    def verdict(self) -> list[str]:
        """What the figures say, in sentences."""
        return verdict(self._all, self.differences, self.material)

    @property
    def comparison(self) -> str:
        """Which system is better, in sentences; empty for a single one."""
        return comparison(self._all, self.differences, self.material)

    @property
    def answers(self) -> list[str]:
        """Per system, whether a fluency count may be taken from its transcripts, and how far off it is."""
        return fluency_answers(self._all)

    def table(self) -> str:
        """Return the figures as text for a terminal, within 80 columns."""
        systems = self._all
        parts = [systems[at : at + _SYSTEMS_AT_ONCE] for at in range(0, len(systems), _SYSTEMS_AT_ONCE)]
        tables = [text_table([["", *(s.name for s in part)], *self._rows(part)]) for part in parts]
        legend = "classes: found of those in the reference, + false alarms"
        lines = [legend, *self.answers, *self.verdict, *self.remarks(), *self.conclusions(MAIN_METRICS)]
        return "\n".join([*tables, *(fill(line, 80, break_long_words=False, break_on_hyphens=False) for line in lines)])

    def _rows(self, systems: Sequence[System]) -> Iterator[list[str]]:
        for metric in MAIN_METRICS:
            yield [metric.title, *(self._metric_text(s, metric) for s in systems)]
        excused = [system.word_errors_verbatim.excluded_hypothesis for system in systems]
        if any(excused):
            yield ["words in place of xxx, not scored", *map(str, excused)]
        for kind in SCORED:
            if any(s.disfluency[kind].reference_events or s.disfluency[kind].hypothesis_events for s in systems):
                title = f"  {CLASSES[kind][0].lower()}"
                yield [title, *(self._class_cell(system, kind) for system in systems)]
        if self.options.speakers:
            yield ["cpWER", *(self.speaker_text(s, s.total.speakers.cp) for s in systems)]
            yield ["tcpWER", *(self.speaker_text(s, s.total.speakers.tcp) for s in systems)]
            yield ["ORC-WER", *(percent(s.total.speakers.orc) for s in systems)]
        for mode in self.options.published:
            rates = (percent(system.total.published[mode].rate) for system in systems)
            yield [f"rules of {MODES[mode].title}", *rates]
        if self.options.typed:
            yield ["F1 as in Nyra's benchmark", *(percent(pooled(system.total.typed).f1) for system in systems)]

    @property
    def _all(self) -> list[System]:
        return list(self.systems.values())

    def speaker_text(self, system: System, rate: float | None) -> str:
        """Return a speaker-attributed error rate, or that the system writes one speaker, so that none can be right."""
        return percent(rate) if self.material.writes_speakers(system.name) else gettext("one speaker")

    @staticmethod
    def _metric_text(system: System, metric: Metric) -> str:
        if metric.over_supported_classes and system.has_gaps:
            return NOT_TRANSCRIBED
        return percent(system.value(metric))

    @staticmethod
    def _class_cell(system: System, kind: Disfluency) -> str:
        detections = system.disfluency[kind]
        if detections.not_scored:
            return f"{NOT_TRANSCRIBED if kind in system.left_out else 'not scored'} ({detections.not_scored})"
        extra = f" +{detections.false_positives:,}" if detections.false_positives else ""
        return f"{detections.true_positives:,} of {detections.reference_events:,}{extra}"

    def remarks(self) -> Iterator[str]:
        """Yield the limits of the figures, in plain sentences."""
        if self.material.unspaced[True]:
            yield gettext("in scripts without spaces (such as Chinese and Japanese), each character counts as a word")
        if self.material.drafts:
            drafts = join_names(self.material.drafts)
            yield gettext(
                "DRAFT as a reference: no person has checked {drafts}; scores against a model's text say little"
            ).format(drafts=drafts)
        for system in self._all:
            if system.missing:
                nothing = gettext("no transcript for {missing}; all their words count as deleted")
                yield f"{system.name}: {nothing.format(missing=join_names(system.missing))}"
            if system.unpaired:
                unpaired = gettext("without a reference, and not scored: {transcripts}")
                names = join_names([*dict.fromkeys(path.stem for path in system.unpaired)])
                yield f"{system.name}: {unpaired.format(transcripts=names)}"
            outside = system.total.hallucinations.words_outside
            if 10 * outside >= max(10, system.word_errors_verbatim.reference_words):
                partial = gettext(
                    "{n} words are from before or after everything that the reference transcribes, and count as made "
                    "up; if it covers only a part of the recording, add utterances www with the times of the rest"
                )
                yield f"{system.name}: {partial.format(n=outside)}"
            if not system.has_marks:
                marks = gettext("writes no disfluency marks; fillers and exact repeats were recognized from its words")
                yield f"{system.name}: {marks}"
        if len({system.supported_classes for system in self._all}) > 1:
            yield gettext(
                "the systems support different disfluency classes: compare them class by class, not by their totals"
            )
        if len(self.systems) > 1 and self._all[0].resamples.units < ENOUGH_UNITS:
            few = gettext("too few recordings to test which system is better: at least {n} are needed")
            yield few.format(n=ENOUGH_UNITS)
        elif self.differences and not self.better_in:
            yield gettext("no difference between the systems is statistically significant")

    @cached_property
    def better_in(self) -> dict[tuple[Metric, str], list[Difference]]:
        """Per metric and better system, its significant differences from other systems."""
        by_winner: dict[tuple[Metric, str], list[Difference]] = {}
        for metric in (*METRICS, *CLASS_METRICS):
            for d in self.differences:
                if d.metric is metric and d.better is not None:
                    by_winner.setdefault((metric, d.better), []).append(d)
        return by_winner

    def conclusions(self, metrics: Sequence[Metric] = (*METRICS, *CLASS_METRICS)) -> Iterator[str]:
        """Yield the significant differences in ``metrics``, in plain sentences."""
        for (metric, name), won in self.better_in.items():
            if metric not in metrics:
                continue
            figures = f" ({won[0]})" if len(self.systems) == 2 else ""
            losers = join_names([d.worse(name) for d in won])
            yield f"{name} is better in “{metric.title.lower()}” than {losers}{figures}"
