"""Figures as inline SVG, drawn by matplotlib and colored by the style of the page: light, dark and print.

matplotlib draws with placeholder colors, each of which becomes a variable of the page's style. Text stays text.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from lsa_whisper.page.figures import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SERIES = 8
_INK, _QUIET, _LINE = "#5e7f01", "#5e7f02", "#5e7f03"
_VARIABLES = {_INK: "--ink", _QUIET: "--quiet", _LINE: "--line"} | {f"#5e710{n}": f"--s{n}" for n in range(_SERIES)}
_MARKERS = "os^Dv<>P"
_LONGEST_NAME = 22
_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9.5,
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _QUIET,
    "xtick.color": _QUIET,
    "ytick.color": _QUIET,
    "axes.grid": True,
    "grid.color": _LINE,
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

    height = 3.3 if plot.y_range else 0.75 + 0.26 * len(plot.names)
    file = io.StringIO()
    with rc_context(_STYLE | {"svg.hashsalt": plot.title}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of glyphs that matplotlib's font does not have; the browser's has them
        figure = Figure(figsize=(4.6, height), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        _plane(axes, plot) if plot.y_range else _rows(axes, plot)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return _inline(file.getvalue(), plot)


def _color(series: int) -> str:
    return f"#5e710{series % _SERIES}"


def _short(name: str) -> str:
    """Return a name for a label: in one line, printable, and not too long."""
    text = _printable(name)
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def _rows(axes: Axes, plot: Plot) -> None:
    """Draw one row for each series: its name, its interval and its value."""
    for number, mark in enumerate(plot.marks):
        axes.plot([mark.low_x, mark.high_x], [mark.y, mark.y], color=_color(mark.series), linewidth=2.5)
        marker = _MARKERS[mark.series % _SERIES]
        axes.plot([mark.x], [mark.y], marker, color=_color(mark.series), markersize=7, gid=f"marks-{number}")
    axes.set_yticks([mark.y for mark in plot.marks], [_short(plot.names[mark.series]) for mark in plot.marks])
    axes.tick_params(axis="y", labelcolor=_INK)
    axes.set_ylim(len(plot.names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    _axes(axes, plot)


def _plane(axes: Axes, plot: Plot) -> None:
    if plot.diagonal:
        axes.plot(plot.x_range, plot.x_range, "--", color=_QUIET, linewidth=1.2)
        axes.annotate("same", (plot.x_range[1], plot.x_range[1]), ha="right", va="top", color=_QUIET)
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
    assert plot.y_range is not None
    axes.set_ylim(*plot.y_range)
    _axes(axes, plot)
    _names_at_lines(axes, plot)


def _axes(axes: Axes, plot: Plot) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axes.set_xlim(*plot.x_range)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    if plot.percent:
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None, symbol=" %"))
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)


def _names_at_lines(axes: Axes, plot: Plot) -> None:
    """Write the name of each series at the end of its line, or of the points of each in a legend."""
    ends = {curve.series: curve.points[-1][1] for curve in plot.curves}
    ends |= {level.series: level.y for level in plot.levels if not level.dashed}
    if not ends:
        drawn = dict.fromkeys(mark.series for mark in plot.marks)
        handles = [
            axes.plot([], [], _MARKERS[n % _SERIES], color=_color(n), label=_short(plot.names[n]))[0] for n in drawn
        ]
        axes.legend(handles=handles, loc="upper left", frameon=False, labelcolor=_INK)
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


def _inline(text: str, plot: Plot) -> str:
    """Return matplotlib's SVG for a page: no namespaces, colors of the style, what a point shows as its title."""
    root = ElementTree.fromstring(text[text.index("<svg") :])  # of our own making, not of a file
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("}metadata"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in list(element.attrib):
            value = element.attrib.pop(name)
            element.attrib[name.rpartition("}")[2]] = _VARIABLE.sub(lambda c: f"var({_VARIABLES[c[0]]})", value)
    for group in list(root.iter("g")):
        for element, title in _titled(group, plot):
            ElementTree.SubElement(element, "title").text = _printable(title)
    _without_own_names(root, plot)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": _printable(plot.title)}
    about = ElementTree.Element("title")
    about.text = _printable(plot.hover or plot.title)
    root.insert(0, about)
    return ElementTree.tostring(root, encoding="unicode")


_VARIABLE = re.compile("|".join(_VARIABLES))


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _titled(group: Any, plot: Plot) -> Iterator[tuple[Any, str]]:
    """Yield the elements of a group of marks, levels or curves, each with its title; curves become polylines."""
    kind, _, number = group.get("id", "").partition("-")
    if kind == "marks" and plot.y_range:
        own = [mark.text for mark in plot.marks if mark.series == int(number)]
        yield from zip(group.iter("use"), own, strict=False)
    elif kind == "marks":
        yield from ((use, plot.marks[int(number)].text) for use in group.iter("use"))
    elif kind == "levels":
        yield group, plot.levels[int(number)].text
    elif kind == "curves":
        for path in list(group.iter("path")):
            path.tag, points = "polyline", path.attrib.pop("d")
            path.set("points", " ".join(re.sub("[MLZz]", " ", points).split()))
        yield group, plot.curves[int(number)].text


def _without_own_names(root: Any, plot: Plot) -> None:
    """Remove identifiers that nothing refers to; the others contain a hash of the figure's title."""
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r'(?:href="#|url\(#)([\w-]+)', text))
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
