"""Figures as inline SVG, drawn by matplotlib and colored by the style of the page: light, dark and print.

Text stays text, and each placeholder color becomes a variable of the page's style.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from lsa_whisper.page.axes import INK, LINE, QUIET, VARIABLES, draw_axes, label_text
from lsa_whisper.page.figures import Plot

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
        draw_axes(axes, plot)
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
        for name in list(element.attrib):
            value = element.attrib.pop(name)
            element.attrib[name.rpartition("}")[2]] = _VARIABLE.sub(lambda c: f"var({VARIABLES[c[0]]})", value)
    for group in list(root.iter("g")):
        for element, title in _titled(group, plot):
            ElementTree.SubElement(element, "title").text = label_text(title)
    _without_own_names(root, plot)
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


def _without_own_names(root: Any, plot: Plot) -> None:
    """Remove identifiers that nothing refers to; the others contain a hash of the figure's title."""
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r'(?:href="#|url\(#)([\w-]+)', text))
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
