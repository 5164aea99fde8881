"""Figures as inline SVG, drawn by matplotlib and colored by the style of the page: light, dark and print.

Text stays text, and each placeholder color becomes a variable of the page's style.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from lsa_whisper.page.figures import Plot
from lsa_whisper.page.language import gettext, page_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SERIES = 8
INK, QUIET, LINE = "#5e7f01", "#5e7f02", "#5e7f03"
VARIABLES = {INK: "--ink", QUIET: "--quiet", LINE: "--line"} | {f"#5e710{n}": f"--s{n}" for n in range(_SERIES)}
_TICK = re.compile(r"[-−]?\d+\.\d+(?: %)?")
_MARKERS = "os^Dv<>P"
_MAX_NAME_LENGTH = 22


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
        axes.annotate(gettext("same"), (plot.x_range[1], plot.x_range[1]), ha="right", va="top", color=QUIET)
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
        legend = dict.fromkeys(mark.series for mark in plot.marks)
        handles = [
            axes.plot([], [], _MARKERS[n % _SERIES], color=_color(n), label=_short(plot.names[n]))[0] for n in legend
        ]
        axes.legend(handles=handles, loc="upper left", frameon=False, labelcolor=INK)
        return
    low, high = axes.get_ylim()
    least, at = 0.065 * (high - low), low - (high - low)
    for series, end in sorted(ends.items(), key=lambda item: item[1]):
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


_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}


def draw_svg(plot: Plot) -> str:
    """Return ``plot`` as an ``svg`` element without any identifier that another figure could have."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    rows = plot.rows or (() if plot.y_range else plot.names)
    height = 0.75 + 0.26 * len(rows) if rows else 3.3
    file = io.StringIO()
    with rc_context(_STYLE | {"svg.hashsalt": plot.title}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of glyphs that matplotlib's font does not have; the browser's has them
        figure = Figure(figsize=(10.0 if plot.wide else 4.6, height), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        _plane(axes, plot) if plot.y_range or plot.rows else _intervals(axes, plot)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return _inline(file.getvalue(), plot)


def _inline(text: str, plot: Plot) -> str:
    """Return matplotlib's SVG for a page: no namespaces, colors of the style, what a point shows as its title."""
    root = ElementTree.fromstring(text[text.index("<svg") :])  # of our own making, not of a file
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("}metadata"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag == "text" and element.text and _TICK.fullmatch(element.text):
            element.text = page_number(element.text)
        for name in list(element.attrib):
            value = element.attrib.pop(name)
            element.attrib[name.rpartition("}")[2]] = _VARIABLE.sub(lambda c: f"var({VARIABLES[c[0]]})", value)
    for group in list(root.iter("g")):
        for element, title in _titled(group, plot):
            ElementTree.SubElement(element, "title").text = label_text(title)
    _without_own_names(root)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": label_text(plot.title)}
    about = ElementTree.Element("title")
    about.text = label_text(plot.hover or plot.title)
    root.insert(0, about)
    return ElementTree.tostring(root, encoding="unicode")


_VARIABLE = re.compile("|".join(VARIABLES))


def _titled(group: Any, plot: Plot) -> Iterator[tuple[Any, str]]:
    """Yield the elements of a group of marks, levels or curves, each with its title; curves become polylines."""
    kind, _, number = group.get("id", "").partition("-")
    if kind == "marks" and (plot.y_range or plot.rows):
        own = [mark.text for mark in plot.marks if mark.series == int(number)]
        yield from zip(group.iter("use"), own, strict=False)
    elif kind == "marks":
        yield from ((use, plot.marks[int(number)].text) for use in group.iter("use"))
    elif kind == "levels":
        yield group, plot.levels[int(number)].text
    elif kind == "boxes":
        yield group, plot.boxes[int(number)].text
    elif kind == "curves":
        for path in list(group.iter("path")):
            path.tag, points = "polyline", path.attrib.pop("d")
            path.set("points", " ".join(re.sub("[MLZz]", " ", points).split()))
        yield group, plot.curves[int(number)].text


def _without_own_names(root: Any) -> None:
    """Remove identifiers that nothing refers to; the others contain a hash of the figure's title."""
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r'(?:href="#|url\(#)([\w-]+)', text))
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
