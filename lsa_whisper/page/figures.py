"""Figures that reports draw as inline SVG: points, intervals, horizontal levels and curves, with their axis ticks.

Positions are SVG units, x to the right and y down. A plot area is 360 units wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log10

_LEFT, _RIGHT = 12.0, 348.0
_ROUND_NUMBERS = (1, 2, 4, 8, 10)

Ticks = tuple[tuple[float, str], ...]
"""Positions on an axis and their labels."""


@dataclass(frozen=True, slots=True)
class PlotMark:
    """A point, or a value with its interval: then ``low_x`` and ``high_x`` differ from ``x``."""

    x: float
    y: float
    low_x: float
    high_x: float
    series: int
    text: str


@dataclass(frozen=True, slots=True)
class PlotLevel:
    """A horizontal line across the plot, optionally dashed."""

    y: float
    series: int
    text: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class PlotCurve:
    """A line through ``points``, written as the attribute of an SVG ``polyline``."""

    points: str
    series: int
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """One figure. A figure with ``y_ticks`` is a plane; one without is a row of values with intervals."""

    title: str
    height: float
    marks: tuple[PlotMark, ...]
    x_ticks: Ticks
    y_ticks: Ticks = ()
    levels: tuple[PlotLevel, ...] = ()
    curves: tuple[PlotCurve, ...] = ()
    diagonal: bool = False
    hover: str = ""


def x_ticks(high: float, form: str = "g") -> Ticks:
    """Return five ticks from 0 to ``high``."""
    return tuple((x_position(high * step / 4, high), format(high * step / 4, form)) for step in range(5))


def y_ticks(low: float, high: float, form: str = ".4g") -> Ticks:
    """Return five ticks from ``low`` at the bottom to ``high`` at the top."""
    values = [low + (high - low) * step / 4 for step in range(5)]
    return tuple((y_position(value, low, high), format(value, form)) for value in values)


def x_position(value: float, high: float) -> float:
    """Return the x of ``value`` on an axis from 0 to ``high``."""
    return round(_LEFT + (_RIGHT - _LEFT) * min(value / high, 1.0), 1)


def y_position(value: float, low: float, high: float) -> float:
    """Return the y of ``value`` on an axis from ``low`` to ``high``."""
    return round(_RIGHT - (_RIGHT - _LEFT) * min(max((value - low) / (high - low), 0.0), 1.0), 1)


def round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 8 times a power of ten, so that a quarter of it is a round number.

    >>> round_up(0.13), round_up(17), round_up(0)
    (0.2, 20.0, 0.0)
    """
    if value <= 0:
        return 0.0
    power = 10.0 ** ceil(log10(value) - 1)
    return next(step * power for step in _ROUND_NUMBERS if value <= step * power * (1 + 1e-9))
