"""The figures of an evaluation report: the main metrics with intervals, and disfluency rates file by file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsa_whisper.evaluate.cells import percent
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.page.figures import (
    Plot,
    PlotLevel,
    PlotMark,
    round_up,
    x_position,
    x_ticks,
    y_position,
    y_ticks,
)
from lsa_whisper.scoring.agreement import Agreement, agreement
from lsa_whisper.scoring.metrics import METRICS, Metric
from lsa_whisper.scoring.system import System

_PLOTTED = ("wer_verbatim", "wer_fluent", "disfluency_f1")
_ALL_CLASSES = "Disfluencies of every class are counted, also of classes that a system does not support."


def evaluation_plots(evaluation: Evaluation) -> list[Plot]:
    """Return one figure of values with intervals per main metric, and two figures of disfluency rates.

    The first has the reference's rate on the x axis and the transcript's on the y axis. The second is Bland and
    Altman's: the mean of both on the x axis, transcript minus reference on the y axis, with the bias and the limits of
    agreement of each system. Both are over all classes: the rate is a property of the speaker, so classes that a
    system does not support are part of its bias.
    """
    systems = list(evaluation.systems.values())
    lines = [_intervals(metric, systems) for metric in METRICS if metric.key in _PLOTTED]
    points = list(_file_rates(systems))
    return [plot for plot in (*lines, _rates(points), _differences(points)) if plot.marks]


def _intervals(metric: Metric, systems: Sequence[System]) -> Plot:
    values = [(n, s.name, v, s.interval(metric)) for n, s in enumerate(systems) if (v := s.value(metric)) is not None]
    highest = max((max(value, i.high if i else 0.0) for _, _, value, i in values), default=0.0)
    top = max(round_up(highest), 0.05) if metric.lower_is_better else 1.0
    marks = []
    for n, name, value, i in values:
        low, high = (i.low, i.high) if i else (value, value)
        x, low_x, high_x = (x_position(each, top) for each in (value, low, high))
        marks.append(PlotMark(x, 14 + 26 * n, low_x, high_x, n, f"{name}: {percent(value, i)}"))
    ticks = tuple((x_position(top * step / 4, top), f"{100 * top * step / 4:g} %") for step in range(5))
    better = "further left is better" if metric.lower_is_better else "further right is better"
    return Plot(f"{metric.title} ({better})", 26 * len(systems) + 26, tuple(marks), ticks)


@dataclass(frozen=True, slots=True)
class _FileRates:
    """The disfluencies per 100 words of one file, in the reference and in a system's transcript."""

    system: int
    text: str
    reference: float
    hypothesis: float

    @property
    def mean(self) -> float:
        return (self.reference + self.hypothesis) / 2

    @property
    def difference(self) -> float:
        return self.hypothesis - self.reference

    def mark(self, x: float, y: float) -> PlotMark:
        return PlotMark(x, y, x, x, self.system, self.text)


def _file_rates(systems: Sequence[System]) -> Iterator[_FileRates]:
    for number, system in enumerate(systems):
        for scores in system.files:
            reference, hypothesis = scores.disfluency_rates
            if reference is not None and hypothesis is not None:
                text = f"{system.name}, {scores.key}: {reference:.1f} / {hypothesis:.1f}"
                yield _FileRates(number, text, reference, hypothesis)


def _rates(points: Sequence[_FileRates]) -> Plot:
    top = round_up(max((max(p.reference, p.hypothesis) for p in points), default=0.0)) or 1.0
    return Plot(
        "All disfluencies per 100 words: reference (x axis), transcript (y axis)",
        380,
        tuple(p.mark(x_position(p.reference, top), y_position(p.hypothesis, 0, top)) for p in points),
        x_ticks(top),
        y_ticks(0, top),
        diagonal=True,
        hover=f"One point per file. On the dashed line both transcripts have the same rate. {_ALL_CLASSES}",
    )


def _differences(points: Sequence[_FileRates]) -> Plot:
    top = round_up(max((p.mean for p in points), default=0.0)) or 1.0
    by_system = {n: [p for p in points if p.system == n] for n in {p.system for p in points}}
    found = {n: agreement((p.reference, p.hypothesis) for p in own) for n, own in by_system.items()}
    limits = [value for each in found.values() for value in (each.low, each.high) if value is not None]
    most = round_up(max((abs(value) for value in [*(p.difference for p in points), *limits]), default=0.0)) or 1.0
    return Plot(
        "Transcript minus reference, all disfluencies per 100 words (y axis), by the mean of both (x axis)",
        380,
        tuple(p.mark(x_position(p.mean, top), y_position(p.difference, -most, most)) for p in points),
        x_ticks(top),
        y_ticks(-most, most),
        tuple(_levels(found, most)),
        hover="Bland-Altman plot: one point per file, a line at the bias, dashed lines at the 95 % limits of "
        f"agreement. {_ALL_CLASSES}",
    )


def _levels(found: dict[int, Agreement], most: float) -> Iterator[PlotLevel]:
    for number, agreed in found.items():
        for name, value in (("bias", agreed.bias), ("lower limit", agreed.low), ("upper limit", agreed.high)):
            if value is not None:
                yield PlotLevel(y_position(value, -most, most), number, f"{name} {value:+.2f}", dashed=name != "bias")
