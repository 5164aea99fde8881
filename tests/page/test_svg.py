"""Figures as SVG: colors of the page, names of the systems, and nothing that a name could break."""

import re

from lsa_whisper.page.figures import Plot, PlotCurve, PlotLevel, PlotMark
from lsa_whisper.page.svg import draw_svg

NAMES = ("<b>a & b</b>", "$x_1$\x00\n", "a name that is far too long for the margin", "日本")


def marks(count):
    return tuple(PlotMark(n / 10, n, n / 20, n / 5, n, f"mark {n} & more") for n in range(count))


def plane():
    points = tuple(PlotMark(n, n * n, n, n, n % 2, f"point {n}") for n in range(6))
    return Plot("A plane", NAMES, points, (0.0, 6.0), (0.0, 30.0), "words", "errors")


def test_each_row_has_the_name_of_its_system_and_its_figure():
    svg = draw_svg(Plot("Rows", NAMES, marks(4), (0.0, 1.0), x_unit="share"))
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"&lt;b&gt;a &amp; b&lt;/b&gt;", "$x_1$  ", "a name that is far to…", "日本"} <= set(texts)
    assert [f"<title>mark {n} &amp; more</title>" in svg for n in range(4)] == [True] * 4


def test_points_keep_their_titles_in_order():
    svg = draw_svg(plane())
    assert re.findall(r"<title>point (\d)</title>", svg) == ["0", "2", "4", "1", "3", "5"], (
        "of one series, then the other"
    )
    assert ">words<" in svg and ">errors<" in svg


def test_colors_are_those_of_the_page():
    level, curve = PlotLevel(3.0, 0, "bias +3"), PlotCurve(((0.0, 1.0), (5.0, 20.0)), 9, "run: loss")
    names = (*NAMES, *"efghij")
    svg = draw_svg(Plot("Lines", names, (), (0.0, 5.0), (0.0, 30.0), levels=(level,), curves=(curve,), diagonal=True))
    assert "#5e7" not in svg and {"var(--s0)", "var(--s1)", "var(--line)", "var(--quiet)"} <= set(
        re.findall(r"var\(--\w+\)", svg)
    )
    assert svg.count("<polyline") == 1 and "<title>bias +3</title>" in svg and "<title>run: loss</title>" in svg


def test_several_figures_share_no_identifier_and_fetch_nothing():
    rows = draw_svg(Plot("Rows", NAMES, marks(4), (0.0, 1.0)))
    other = draw_svg(plane())
    first, second = (set(re.findall(r' id="([^"]+)"', svg)) for svg in (rows, other))
    assert first and second and not first & second
    assert "http" not in rows + other and draw_svg(plane()) == other, "the same each time"
