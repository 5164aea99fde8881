"""The figures of an evaluation report: the main metrics with intervals, and disfluency rates file by file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsa_whisper.evaluation.cells import interval_or_none, percent, plain_number
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.page.figures import Plot, PlotLevel, PlotMark
from lsa_whisper.page.language import gettext
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
    names = tuple(system.name for system in systems)
    return [plot for plot in (*lines, _rates(points, names), _differences(points, names)) if plot.marks]


def _intervals(metric: Metric, systems: Sequence[System]) -> Plot:
    values = [(n, s, v) for n, s in enumerate(systems) if (v := s.value(metric)) is not None]
    marks = []
    for row, (n, system, value) in enumerate(values):
        i = system.interval(metric)
        low, high = (i.low, i.high) if i else (value, value)
        marks.append(PlotMark(value, row, low, high, n, f"{system.name}: {percent(value, interval_or_none(i))}"))
    top = max(0.05, *(1.05 * mark.high_x for mark in marks)) if metric.lower_is_better and marks else 1.0
    left, right = gettext("further left is better"), gettext("further right is better")
    better = left if metric.lower_is_better else right
    names = tuple(system.name for system in systems)
    return Plot(f"{gettext(metric.title)} ({better})", names, tuple(marks), (0.0, top), x_unit="share")


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
                text = f"{system.name}, {scores.key}: {plain_number(reference, 1)} / {plain_number(hypothesis, 1)}"
                yield _FileRates(number, text, reference, hypothesis)


def _rates(points: Sequence[_FileRates], names: tuple[str, ...]) -> Plot:
    top = 1.05 * max((max(p.reference, p.hypothesis) for p in points), default=0.0) or 1.0
    return Plot(
        gettext("All disfluencies per 100 words of each recording"),
        names,
        tuple(p.mark(p.reference, p.hypothesis) for p in points),
        (0.0, top),
        (0.0, top),
        gettext("reference"),
        gettext("transcript"),
        diagonal=True,
        hover=gettext("One point per file. On the dashed line both transcripts have the same rate.")
        + f" {gettext(_ALL_CLASSES)}",
    )


def _differences(points: Sequence[_FileRates], names: tuple[str, ...]) -> Plot:
    top = 1.05 * max((p.mean for p in points), default=0.0) or 1.0
    by_system = {n: [p for p in points if p.system == n] for n in sorted({p.system for p in points})}
    agreements = {n: agreement((p.reference, p.hypothesis) for p in own) for n, own in by_system.items()}
    limits = [value for own in agreements.values() for value in (own.low, own.high) if value is not None]
    most = 1.1 * max((abs(value) for value in [*(p.difference for p in points), *limits]), default=0.0) or 1.0
    return Plot(
        gettext("How many disfluencies too many or too few (Bland-Altman)"),
        names,
        tuple(p.mark(p.mean, p.difference) for p in points),
        (0.0, top),
        (-most, most),
        gettext("mean of reference and transcript, per 100 words"),
        gettext("transcript minus reference"),
        levels=tuple(_levels(agreements)),
        hover=gettext(
            "Bland-Altman plot: one point per file, a line at the bias, dashed lines at the 95 % limits of agreement."
        )
        + f" {gettext(_ALL_CLASSES)}",
        sentences=tuple(_sentence(names[n], result) for n, result in agreements.items()),
    )


def _levels(agreements: dict[int, Agreement]) -> Iterator[PlotLevel]:
    for number, result in agreements.items():
        for name, value in (("bias", result.bias), ("lower limit", result.low), ("upper limit", result.high)):
            if value is not None:
                text = f"{gettext(name)} {plain_number(value, 2, sign=True)}"
                yield PlotLevel(value, number, text, dashed=name != "bias")


def _sentence(name: str, result: Agreement) -> str:
    """Return how far off a count from this system is: on average, and in a single recording."""
    counts = gettext("{system} counts {n} per 100 words")
    on_average = counts.format(system=name, n=_too_many(result.bias or 0.0))
    if result.low is None or result.high is None:
        return f"{on_average}."
    single = gettext("; in a single recording {low} to {high}.")
    return on_average + single.format(low=_too_many(result.low), high=_too_many(result.high))


def _too_many(value: float) -> str:
    """Return a difference in words.

    >>> _too_many(-2.04), _too_many(0.01), _too_many(3)
    ('about 2.0 too few', 'as many', 'about 3.0 too many')
    """
    if abs(value) < 0.05:
        return gettext("as many")
    return (gettext("about {n:.1f} too many") if value > 0 else gettext("about {n:.1f} too few")).format(n=abs(value))
