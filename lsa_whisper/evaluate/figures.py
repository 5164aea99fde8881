"""Where the marks of the report's two figures stand; the template draws them as inline SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log10

from lsa_whisper.evaluate.metrics import METRICS, Metric
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.evaluate.score import FileScores
from lsa_whisper.evaluate.system import System
from lsa_whisper.evaluate.text import percent

_SHOWN = ("wer_verbatim", "wer_fluent", "disfluency_f1")
_LEFT, _RIGHT = 12.0, 348.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with its interval on a line, or a point in a plane (then ``low_x`` and ``high_x`` are ``x``)."""

    x: float
    y: float
    low_x: float
    high_x: float
    system: int
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in SVG units, 360 wide; ``ticks`` are (place, text) along x, and along y too in a plane."""

    title: str
    height: float
    marks: tuple[Mark, ...]
    ticks: tuple[tuple[float, str], ...]
    plane: bool = False


def figures(evaluation: Evaluation) -> list[Figure]:
    """Return a line with intervals per main metric, and the plane of disfluency rates (reference x, transcript y)."""
    systems = list(evaluation.systems.values())
    lines = [_intervals(metric, systems) for metric in METRICS if metric.key in _SHOWN]
    return [figure for figure in (*lines, _rates(systems)) if figure.marks]


def _intervals(metric: Metric, systems: Sequence[System]) -> Figure:
    shown = [(n, s.name, v, s.interval(metric)) for n, s in enumerate(systems) if (v := s.value(metric)) is not None]
    highest = max((max(value, i.high if i else 0.0) for _, _, value, i in shown), default=0.0)
    top = max(_round_up(highest), 0.05) if metric.lower_is_better else 1.0
    marks = []
    for n, name, value, i in shown:
        low, high = (i.low, i.high) if i else (value, value)
        text = f"{name}: {percent(value, i)}"
        marks.append(Mark(_place(value, top), 14 + 26 * n, _place(low, top), _place(high, top), n, text))
    ticks = tuple((_place(top * step / 4, top), f"{100 * top * step / 4:g} %") for step in range(5))
    better = "further left is better" if metric.lower_is_better else "further right is better"
    return Figure(f"{metric.title} ({better})", 26 * len(systems) + 26, tuple(marks), ticks)


def _rates(systems: Sequence[System]) -> Figure:
    points = [(n, s.key, *_total_rate(s, system)) for n, system in enumerate(systems) for s in system.files]
    defined = [(n, key, r, h) for n, key, r, h in points if r is not None and h is not None]
    top = _round_up(max((max(r, h) for _, _, r, h in defined), default=0.0)) or 1.0
    marks = tuple(
        Mark(x, _RIGHT - (_place(heard, top) - _LEFT), x, x, n, f"{systems[n].name}, {key}: {said:.1f} / {heard:.1f}")
        for n, key, said, heard in defined
        for x in (_place(said, top),)
    )
    ticks = tuple((_place(top * step / 4, top), f"{top * step / 4:g}") for step in range(5))
    return Figure("Disfluencies per 100 words: reference (across), transcript (up)", 380, marks, ticks, plane=True)


def _total_rate(scores: FileScores, system: System) -> tuple[float | None, float | None]:
    """Return events per 100 meant words of all classes the system can write."""
    pairs = [scores.rate(kind) for kind in system.writable if kind in scores.disfluency.by_class]
    sums = (_added(rates) for rates in zip(*pairs, strict=True))
    return next(sums, None), next(sums, None)


def _added(rates: Sequence[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if len(known) == len(rates) else None


def _place(value: float, top: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * min(value / top, 1.0), 1)


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 8 times a power of ten: four equal parts of it are round numbers.

    >>> _round_up(0.13), _round_up(17), _round_up(0)
    (0.2, 20.0, 0.0)
    """
    if value <= 0:
        return 0.0
    power = 10.0 ** ceil(log10(value) - 1)
    return next(step * power for step in _steps() if value <= step * power * (1 + 1e-9))


def _steps() -> Iterator[float]:
    yield from (1, 2, 4, 8, 10)
