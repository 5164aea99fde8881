"""Axes of a figure, drawn by matplotlib with placeholder colors, each of which is a variable of the page's style."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsa_whisper.page.figures import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SERIES = 8
INK, QUIET, LINE = "#5e7f01", "#5e7f02", "#5e7f03"
VARIABLES = {INK: "--ink", QUIET: "--quiet", LINE: "--line"} | {f"#5e710{n}": f"--s{n}" for n in range(_SERIES)}
_MARKERS = "os^Dv<>P"
_MAX_NAME_LENGTH = 22


def draw_axes(axes: Axes, plot: Plot) -> None:
    """Draw ``plot`` on empty axes; groups of its parts are named after them, such as ``marks-0``."""
    _plane(axes, plot) if plot.y_range or plot.rows else _intervals(axes, plot)


def label_text(text: str) -> str:
    """Return ``text`` in one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


def _color(series: int) -> str:
    return f"#5e710{series % _SERIES}"


def _short(name: str) -> str:
    """Return a name for a label: in one line, printable, and not too long."""
    text = label_text(name)
    return text if len(text) <= _MAX_NAME_LENGTH else text[: _MAX_NAME_LENGTH - 1] + "…"


def _intervals(axes: Axes, plot: Plot) -> None:
    """Draw one row for each series: its name, its interval and its value."""
    for number, mark in enumerate(plot.marks):
        axes.plot([mark.low_x, mark.high_x], [mark.y, mark.y], color=_color(mark.series), linewidth=2.5)
        marker = _MARKERS[mark.series % _SERIES]
        axes.plot([mark.x], [mark.y], marker, color=_color(mark.series), markersize=7, gid=f"marks-{number}")
    axes.set_yticks([mark.y for mark in plot.marks], [_short(plot.names[mark.series]) for mark in plot.marks])
    axes.tick_params(axis="y", labelcolor=INK)
    axes.set_ylim(len(plot.names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    _axes(axes, plot)


def _plane(axes: Axes, plot: Plot) -> None:
    if plot.diagonal:
        axes.plot(plot.x_range, plot.x_range, "--", color=QUIET, linewidth=1.2)
        axes.annotate("same", (plot.x_range[1], plot.x_range[1]), ha="right", va="top", color=QUIET)
    for number, level in enumerate(plot.levels):
        line = "--" if level.dashed else "-"
        axes.plot(plot.x_range, [level.y] * 2, line, color=_color(level.series), linewidth=1.3, gid=f"levels-{number}")
    for number, curve in enumerate(plot.curves):
        x, y = zip(*curve.points, strict=True)
        axes.plot(x, y, color=_color(curve.series), linewidth=1.8, gid=f"curves-{number}")
    for series in dict.fromkeys(mark.series for mark in plot.marks):
        own = [mark for mark in plot.marks if mark.series == series]
        places = [mark.x for mark in own], [mark.y for mark in own]
        marker = _MARKERS[series % _SERIES]
        axes.plot(*places, marker, color=_color(series), alpha=0.6, gid=f"marks-{series}", clip_on=False)
    _boxes(axes, plot)
    if plot.rows:
        axes.set_yticks(range(len(plot.rows)), [_short(name) for name in plot.rows])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.grid(visible=False, axis="y")
    axes.set_ylim(*(plot.y_range or (len(plot.rows) - 0.4, -0.6)))
    _axes(axes, plot)
    if not plot.rows and not plot.boxes:
        _names_at_lines(axes, plot)


def _boxes(axes: Axes, plot: Plot) -> None:
    from matplotlib.patches import Rectangle

    for number, box in enumerate(plot.boxes):
        size = box.high_x - box.low_x, box.high_y - box.low_y
        axes.add_patch(Rectangle((box.low_x, box.low_y), *size, color=_color(box.series), lw=0, gid=f"boxes-{number}"))
    sides = ("right", "left") if len(plot.limits) == 2 else ("right",) * len(plot.limits)  # two never cover each other
    for (x, name), side in zip(plot.limits, sides, strict=True):
        axes.axvline(x, color=_color(1), linestyle="--", linewidth=1.3)
        axes.annotate(name, (x, 1.02), xycoords=("data", "axes fraction"), ha=side, va="bottom", color=_color(1))


def _axes(axes: Axes, plot: Plot) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator, PercentFormatter

    most = 10 if plot.wide else 5
    axes.set_xlim(*plot.x_range)
    axes.xaxis.set_major_locator(MaxNLocator(most, integer=plot.x_unit == "count"))
    if plot.x_unit == "share":
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None, symbol=" %"))
    elif plot.x_unit in _STEPS:
        steps, write = _STEPS[plot.x_unit]
        length = plot.x_range[1] - plot.x_range[0]
        axes.xaxis.set_major_locator(MultipleLocator(next((step for step in steps if length / step <= most), length)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)


def _clock(seconds: float) -> str:
    """Return minutes and seconds.

    >>> _clock(75.0)
    '1:15'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _age(years: float) -> str:
    """Return an age as CHAT writes it, without days.

    >>> _age(2.5), _age(1.9999)
    ('2;06', '2;00')
    """
    return f"{round(12 * years) // 12};{round(12 * years) % 12:02}"


def _names_at_lines(axes: Axes, plot: Plot) -> None:
    """Write the name of each series at the end of its line, or of the points of each in a legend."""
    ends = {curve.series: curve.points[-1][1] for curve in plot.curves}
    ends |= {level.series: level.y for level in plot.levels if not level.dashed}
    if not ends:
        drawn = dict.fromkeys(mark.series for mark in plot.marks)
        handles = [
            axes.plot([], [], _MARKERS[n % _SERIES], color=_color(n), label=_short(plot.names[n]))[0] for n in drawn
        ]
        axes.legend(handles=handles, loc="upper left", frameon=False, labelcolor=INK)
        return
    low, high = axes.get_ylim()
    least, at = 0.065 * (high - low), low - (high - low)
    for series, end in sorted(ends.items(), key=lambda each: each[1]):
        at = max(end, at + least)  # names that would cover each other move up
        axes.annotate(
            _short(plot.names[series]),
            (1.01, at),
            xycoords=("axes fraction", "data"),
            va="center",
            color=_color(series),
            annotation_clip=False,
        )


_STEPS = {
    "clock": ((1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600), _clock),
    "age": (tuple(months / 12 for months in (1, 2, 3, 6, 12, 24, 60, 120)), _age),
}
"""Distances between the ticks of a unit, and how its values are written."""
