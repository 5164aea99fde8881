"""Figures of prepared data: histograms of its windows, and the disfluencies of each role."""

from __future__ import annotations

from collections.abc import Mapping

from lsa_whisper.chat import Disfluency
from lsa_whisper.inspection.distribution import Distribution
from lsa_whisper.inspection.survey import Survey
from lsa_whisper.inspection.text_output import format_number
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
    made = [
        _histogram(
            "Window duration", "seconds", Distribution(everything.durations), {f"context {context_s:g} s": context_s}
        ),
        _histogram(tokens, "tokens", Distribution(everything.tokens), {f"limit {limit}": float(limit)}),
        _histogram(
            "Words per second per window; lines mark the limits for outliers", "words per second", rates, fences
        ),
        rates_plot(survey.rates()),
    ]
    return [plot for plot in made if plot.boxes]


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


def rates_plot(rates: Rates, title: str = "Disfluencies per 100 fluent words") -> Plot:
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
    rows = tuple(CLASSES[kind][0] for kind in kinds)
    top = 1.05 * max((box.high_x for box in boxes), default=1.0)
    return Plot(title, tuple(groups), (), (0.0, top), None, "per 100 fluent words", boxes=boxes, rows=rows)
