"""Figures of reports: points, values with intervals, horizontal levels and curves, in the units of their data."""

from __future__ import annotations

from dataclasses import dataclass


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
class Plot:
    """One figure. Without a ``y_range`` it is a row for each of ``names``, with a value and its interval."""

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
    percent: bool = False
    """Whether the x axis is of shares."""
    hover: str = ""
    sentences: tuple[str, ...] = ()
    """What the figure shows, in words."""
