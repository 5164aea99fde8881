"""The results of an evaluation: several systems over the same references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluate.cells import percent
from lsa_whisper.evaluate.glossary import CLASSES
from lsa_whisper.evaluate.report_rows import ReportRows
from lsa_whisper.page.text import join_names, text_table
from lsa_whisper.scoring.bootstrap import Interval
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.metrics import METRICS, Metric
from lsa_whisper.scoring.published import MODES
from lsa_whisper.scoring.score_file import ScoringOptions
from lsa_whisper.scoring.system import System

ENOUGH_FILES = 6
"""With five files or fewer, even a difference of the same sign in all has p > 0.05 (2 / 2**5)."""


@dataclass(frozen=True)
class Difference:
    """How two systems differ in one metric, on the same resamples."""

    metric: Metric
    first: str
    second: str
    difference: float
    """First minus second."""
    interval: Interval | None
    files: int
    """The number of files."""

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
        >>> Difference(METRICS[0], "a", "b", -0.12, Interval(-0.15, -0.1), 6).points
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


@dataclass(frozen=True)
class Evaluation:
    """The result of :func:`~lsa_whisper.evaluate.evaluate`."""

    reference: Path
    systems: dict[str, System]
    samples: int
    options: ScoringOptions = field(default_factory=ScoringOptions)
    """The options of scoring."""
    rows: ReportRows = field(default_factory=ReportRows)
    """The aligned utterances, if a report was requested."""
    report: Path | None = None
    """The HTML report, if one was written."""
    unspaced: bool = False
    """Whether a reference is in a script without spaces between words, each character of which is a word."""

    @cached_property
    def differences(self) -> list[Difference]:
        """Every pair of systems in every metric that is defined for both and covers the same classes."""
        return list(self._differences())

    def _differences(self) -> Iterator[Difference]:
        for first, second in combinations(self.systems.values(), 2):
            for metric in METRICS:
                values = first.value(metric), second.value(metric)
                different_classes = (
                    metric.over_supported_classes and first.supported_classes != second.supported_classes
                )
                if values[0] is None or values[1] is None or different_classes:
                    continue
                interval = first.difference_interval(second, metric)
                yield Difference(metric, first.name, second.name, values[0] - values[1], interval, len(first.files))

    def table(self) -> str:
        """Return the main figures as text for a terminal."""
        rows = [
            [metric.title, *(percent(s.value(metric), s.interval(metric)) for s in self._all)] for metric in METRICS
        ]
        for kind in SCORED:
            if any(s.disfluency[kind].reference_events or s.disfluency[kind].hypothesis_events for s in self._all):
                title = f"  {CLASSES[kind][0].lower()}"
                rows.append([title, *(self._class_cell(system, kind) for system in self._all)])
        if self.options.speakers:
            rows.append(["cpWER", *(percent(s.speakers.cp) for s in self._all)])
            rows.append(["tcpWER", *(percent(s.speakers.tcp) for s in self._all)])
        for mode in self.options.published:
            shown = (percent(system.published_errors(mode).rate) for system in self._all)
            rows.append([f"rules of {MODES[mode].title}", *shown])
        return "\n".join([text_table([["", *self.systems], *rows]), *self.remarks(), *self.conclusions()])

    @property
    def _all(self) -> list[System]:
        return list(self.systems.values())

    @staticmethod
    def _class_cell(system: System, kind: Disfluency) -> str:
        found = system.disfluency[kind]
        if found.not_scored:
            return f"not scored ({found.not_scored})"
        return percent(found.f1, system.class_interval(kind))

    def remarks(self) -> Iterator[str]:
        """Yield the limits of the figures, in plain sentences."""
        if self.unspaced:
            yield "in scripts without spaces (such as Chinese and Japanese), each character counts as a word"
        for system in self._all:
            if system.missing:
                missing = join_names(system.missing)
                yield f"{system.name}: no transcript for {missing}; all their words count as deleted"
            if system.unpaired:
                yield f"{system.name}: {len(system.unpaired)} transcript(s) without a reference were not scored"
            if not system.has_marks:
                marks = "fillers and exact repeats were recognized from its words"
                yield f"{system.name}: writes no disfluency marks; {marks}"
        if len({system.supported_classes for system in self._all}) > 1:
            yield "the systems support different disfluency classes: compare them class by class, not by their totals"
        if len(self.systems) > 1 and len(self._all[0].files) < ENOUGH_FILES:
            yield f"too few files to test which system is better: at least {ENOUGH_FILES} are needed"
        elif self.differences and not self.better_in:
            yield "no difference between the systems is statistically significant"

    @cached_property
    def better_in(self) -> dict[tuple[Metric, str], list[Difference]]:
        """Per metric and better system, its significant differences from other systems."""
        found: dict[tuple[Metric, str], list[Difference]] = {}
        for metric in METRICS:
            for d in self.differences:
                if d.metric is metric and d.better is not None:
                    found.setdefault((metric, d.better), []).append(d)
        return found

    def conclusions(self) -> Iterator[str]:
        """Yield the significant differences, in plain sentences."""
        for (metric, name), shown in self.better_in.items():
            figures = f" ({shown[0]})" if len(self.systems) == 2 else ""
            others = join_names([d.worse(name) for d in shown])
            yield f"{name} is better in “{metric.title.lower()}” than {others}{figures}"
