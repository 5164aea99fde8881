"""Figures of pages: points, intervals, levels, curves, boxes and limits, in the units of their data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["", "share", "clock", "age", "count"]
"""How numbers of an axis are written: as they are, in percent, as minutes and seconds, as years;months, whole."""


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
    """A line through ``points``."""

    points: tuple[tuple[float, float], ...]
    series: int
    text: str


@dataclass(frozen=True, slots=True)
class PlotBox:
    """A filled rectangle: a bar of a histogram, a bar of a row, or a stretch of time."""

    low_x: float
    high_x: float
    low_y: float
    high_y: float
    series: int
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """One figure. Without a ``y_range`` it is a row for each of ``names``, with a value and its interval.

    With ``rows`` it has a row for each of these, the first at the top; row *n* is at height *n*.
    """

    title: str
    names: tuple[str, ...]
    """The name of each series, written at its row, line or points."""
    marks: tuple[PlotMark, ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float] | None = None
    x_label: str = ""
    y_label: str = ""
    levels: tuple[PlotLevel, ...] = ()
    curves: tuple[PlotCurve, ...] = ()
    diagonal: bool = False
    boxes: tuple[PlotBox, ...] = ()
    rows: tuple[str, ...] = ()
    limits: tuple[tuple[float, str], ...] = ()
    """Vertical lines, each with its name."""
    x_unit: Unit = ""
    wide: bool = False
    """Whether the figure needs the width of the page."""
    hover: str = ""
    sentences: tuple[str, ...] = ()
    """What the figure shows, in words."""
