"""Where the marks of the report's figures stand; the template draws them as inline SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log10

from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.evaluate.text import percent
from lsa_whisper.scoring.agreement import agreement
from lsa_whisper.scoring.metrics import METRICS, Metric
from lsa_whisper.scoring.system import System

_SHOWN = ("wer_verbatim", "wer_fluent", "disfluency_f1")
_ALL_CLASSES = "Disfluencies of every class are counted, also of those that a system has no way to write."
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
class Level:
    """A horizontal line across a plane; a ``faint`` one is drawn dashed."""

    y: float
    system: int
    text: str
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points of a plane, written as SVG's ``points``."""

    points: str
    system: int
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in SVG units, 360 wide; ``ticks`` are (place, text) along x, ``up`` those along y of a plane."""

    title: str
    height: float
    marks: tuple[Mark, ...]
    ticks: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...] = ()
    levels: tuple[Level, ...] = ()
    curves: tuple[Curve, ...] = ()
    diagonal: bool = False
    hover: str = ""


def figures(evaluation: Evaluation) -> list[Figure]:
    """Return a line with intervals per main metric, and two planes of disfluency rates.

    One has the reference's rate across and the transcript's up, the other is Bland and Altman's: the mean of both
    across, transcript minus reference up, with the bias and the limits of agreement of each system. Both are of all
    classes: the rate asked for is the speaker's, so what a system cannot write is part of its bias.
    """
    systems = list(evaluation.systems.values())
    lines = [_intervals(metric, systems) for metric in METRICS if metric.key in _SHOWN]
    points = _points(systems)
    return [figure for figure in (*lines, _rates(points), _differences(points)) if figure.marks]


def _intervals(metric: Metric, systems: Sequence[System]) -> Figure:
    shown = [(n, s.name, v, s.interval(metric)) for n, s in enumerate(systems) if (v := s.value(metric)) is not None]
    highest = max((max(value, i.high if i else 0.0) for _, _, value, i in shown), default=0.0)
    top = max(round_up(highest), 0.05) if metric.lower_is_better else 1.0
    marks = []
    for n, name, value, i in shown:
        low, high = (i.low, i.high) if i else (value, value)
        text = f"{name}: {percent(value, i)}"
        marks.append(Mark(place(value, top), 14 + 26 * n, place(low, top), place(high, top), n, text))
    ticks = tuple((place(top * step / 4, top), f"{100 * top * step / 4:g} %") for step in range(5))
    better = "further left is better" if metric.lower_is_better else "further right is better"
    return Figure(f"{metric.title} ({better})", 26 * len(systems) + 26, tuple(marks), ticks)


@dataclass(frozen=True, slots=True)
class _Point:
    """The disfluencies per 100 words of one file, in the reference and in a system's transcript."""

    system: int
    text: str
    said: float
    heard: float


def _points(systems: Sequence[System]) -> list[_Point]:
    points = []
    for number, system in enumerate(systems):
        for scores in system.files:
            said, heard = scores.disfluency_rates
            if said is not None and heard is not None:
                text = f"{system.name}, {scores.key}: {said:.1f} / {heard:.1f}"
                points.append(_Point(number, text, said, heard))
    return points


def _rates(points: Sequence[_Point]) -> Figure:
    top = round_up(max((max(p.said, p.heard) for p in points), default=0.0)) or 1.0
    marks = tuple(_mark(place(p.said, top), up(p.heard, 0, top), p) for p in points)
    return Figure(
        "All disfluencies per 100 words: reference (across), transcript (up)",
        380,
        marks,
        across(top),
        upward(0, top),
        diagonal=True,
        hover=f"One point per file. On the dashed line both transcripts have as many. {_ALL_CLASSES}",
    )


def _differences(points: Sequence[_Point]) -> Figure:
    top = round_up(max(((p.said + p.heard) / 2 for p in points), default=0.0)) or 1.0
    found = {n: agreement((p.said, p.heard) for p in points if p.system == n) for n in {p.system for p in points}}
    far = [p.heard - p.said for p in points] + [v for a in found.values() for v in (a.low, a.high) if v is not None]
    most = round_up(max((abs(value) for value in far), default=0.0)) or 1.0
    marks = tuple(_mark(place((p.said + p.heard) / 2, top), up(p.heard - p.said, -most, most), p) for p in points)
    levels = [
        Level(up(value, -most, most), number, f"{name} {value:+.2f}", faint=name != "bias")
        for number, agreed in found.items()
        for name, value in (("bias", agreed.bias), ("lower limit", agreed.low), ("upper limit", agreed.high))
        if value is not None
    ]
    return Figure(
        "Transcript minus reference, all disfluencies per 100 words (up), by the mean of both (across)",
        380,
        marks,
        across(top),
        upward(-most, most),
        tuple(levels),
        hover="Bland and Altman's figure: one point per file, a line at the bias, dashed lines at the 95 % limits. "
        f"{_ALL_CLASSES}",
    )


def _mark(x: float, y: float, point: _Point) -> Mark:
    return Mark(x, y, x, x, point.system, point.text)


def across(top: float, form: str = "g") -> tuple[tuple[float, str], ...]:
    """Return five ticks from 0 to ``top``."""
    return tuple((place(top * step / 4, top), format(top * step / 4, form)) for step in range(5))


def upward(low: float, high: float, form: str = ".4g") -> tuple[tuple[float, str], ...]:
    """Return five ticks from ``low`` at the bottom to ``high``."""
    values = [low + (high - low) * step / 4 for step in range(5)]
    return tuple((up(value, low, high), format(value, form)) for value in values)


def up(value: float, low: float, high: float) -> float:
    """Return where ``value`` stands on a vertical scale."""
    return round(_RIGHT - (_RIGHT - _LEFT) * min(max((value - low) / (high - low), 0.0), 1.0), 1)


def place(value: float, top: float) -> float:
    """Return where ``value`` stands on a horizontal scale from 0 to ``top``."""
    return round(_LEFT + (_RIGHT - _LEFT) * min(value / top, 1.0), 1)


def round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 8 times a power of ten: four equal parts of it are round numbers.

    >>> round_up(0.13), round_up(17), round_up(0)
    (0.2, 20.0, 0.0)
    """
    if value <= 0:
        return 0.0
    power = 10.0 ** ceil(log10(value) - 1)
    return next(step * power for step in _steps() if value <= step * power * (1 + 1e-9))


def _steps() -> Iterator[float]:
    yield from (1, 2, 4, 8, 10)
