"""A self-contained HTML page on prepared data: tables, figures and audio clips; no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.inspection.counts import Distribution, timed_lines
from lsa_whisper.inspection.survey import Survey
from lsa_whisper.inspection.tables import describe_segment, survey_notes, survey_tables
from lsa_whisper.inspection.text_output import format_number
from lsa_whisper.inspection.write_page import load_clip, write_page
from lsa_whisper.manifest import Segment
from lsa_whisper.page.figures import Plot, PlotBox
from lsa_whisper.page.terms import CLASSES

_ROLES = 4
_THICK = 0.8
"""The height of all bars of a row together."""

Rates = Mapping[str, Mapping[str, float | None]]


def survey_plots(survey: Survey) -> list[Plot]:
    """Return histograms of duration, tokens and speech rate, and the disfluency rates of each role."""
    everything, limit, context_s = survey.everything, survey.tokens.limit, survey.context_s
    rates = Distribution(everything.rates)
    tokens = "Tokens per window" + ("" if survey.tokens.exact else " (estimate)")
    fences = {f"{fence:.2f}": fence for fence in rates.fences or () if fence > 0}
    plots = [
        _histogram(
            "Window duration", "seconds", Distribution(everything.durations), {f"context {context_s:g} s": context_s}
        ),
        _histogram(tokens, "tokens", Distribution(everything.tokens), {f"limit {limit}": float(limit)}),
        _histogram(
            "Words per second per window; lines mark the limits for outliers", "words per second", rates, fences
        ),
        rates_plot(survey.rates()),
    ]
    return [plot for plot in plots if plot.boxes]


def _histogram(title: str, unit: str, distribution: Distribution, limits: Mapping[str, float]) -> Plot:
    counts, width = distribution.histogram(max(limits.values(), default=0.0))
    top, least = 1.05 * max(counts, default=0) or 1.0, max(counts, default=0) / 150
    boxes = tuple(
        # One window among thousands must stay visible.
        PlotBox(
            width * (at + 0.04),
            width * (at + 0.96),
            0.0,
            max(count, least),
            0,
            f"{format_number(width * at)} to {format_number(width * (at + 1))}: {count}",
        )
        for at, count in enumerate(counts)
        if count
    )
    quartiles = ", ".join(map(format_number, distribution.quartiles or ()))
    lines = tuple((value, name) for name, value in limits.items())
    hover = f"{title}: minimum, quartiles and maximum are {quartiles}"
    size = (0.0, 1.02 * width * len(counts)), (0.0, top)
    return Plot(title, (), (), *size, unit, "windows", boxes=boxes, limits=lines, hover=hover)


def rates_plot(rates: Rates) -> Plot:
    """Return a row for each class of disfluency, with a bar for each of at most four groups of speakers."""
    groups = list(rates)[:_ROLES]
    kinds = [kind for kind in Disfluency if any(rates[group].get(kind.value) for group in groups)]
    thick = _THICK / max(len(groups), 1)
    boxes = tuple(
        PlotBox(
            0.0,
            rate,
            row - _THICK / 2 + number * thick,
            row - _THICK / 2 + (number + 0.9) * thick,
            number,
            f"{group}, {CLASSES[kind][0].lower()}: {format_number(rate)}",
        )
        for row, kind in enumerate(kinds)
        for number, group in enumerate(groups)
        if (rate := rates[group].get(kind.value))
    )
    rows, title = tuple(CLASSES[kind][0] for kind in kinds), "Disfluencies per 100 fluent words"
    top = 1.05 * max((box.high_x for box in boxes), default=1.0)
    return Plot(title, tuple(groups), (), (0.0, top), None, "per 100 fluent words", boxes=boxes, rows=rows)


_ROWS = 200


def write_survey_page(path: Path, survey: Survey, out: Path) -> None:
    """Write the statistics of the data at ``path`` to the HTML file ``out``, atomically.

    Raises:
        CorpusError: ``out`` cannot be written.
    """
    facts: dict[str, Any] = {
        "path": path,
        "survey": survey,
        "remarks": survey_notes(survey),
        "tables": survey_tables(path, survey, most=_ROWS),
        "figures": survey_plots(survey),
        "clips": {
            "Random examples": _clips((None, row) for row in survey.examples),
            "Spliced speech, two windows of each class": _clips((None, row) for row in survey.spliced),
            "Slow outliers, lowest speech rate first": _clips(survey.slow),
            "Fast outliers, highest speech rate first": _clips(survey.fast),
        },
    }
    write_page("page.html.jinja", facts, out)


def _clips(rows: Iterable[tuple[float | None, Segment]]) -> list[dict[str, Any]]:
    return [
        {
            "row": row,
            "place": describe_segment(row),
            "rate": rate,
            "clip": load_clip(row.audio_filepath, row.span),
            "prompt": row.prompt,
            "lines": timed_lines(row.text),
        }
        for rate, row in rows
    ]
