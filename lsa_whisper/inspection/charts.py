"""Bar charts of the page as coordinates; the template draws them as inline SVG."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log10

from lsa_whisper.inspection.distribution import Distribution
from lsa_whisper.inspection.survey import Survey
from lsa_whisper.inspection.text_output import format_number

_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 364.0, 14.0, 160.0
_NAMES = 150.0
_ROLES = 4


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle with its tooltip; ``series`` selects its color."""

    x: float
    y: float
    width: float
    height: float
    text: str
    series: int = 0


@dataclass(frozen=True, slots=True)
class BarChart:
    """A bar chart in SVG units, 396 wide.

    Attributes:
        title: Caption.
        summary: Text alternative for screen readers.
        height: Height of the chart.
        bars: Vertical bars (a histogram) or horizontal bars.
        x_ticks: (position, label), each with a grid line.
        y_ticks: (position, label); the names of horizontal bars.
        limits: Vertical lines as (x, label, SVG text anchor).
        legend: The name of each series; empty with one series.
    """

    title: str
    summary: str
    height: float
    bars: tuple[Bar, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    limits: tuple[tuple[float, str, str], ...] = ()
    legend: tuple[str, ...] = ()


def survey_charts(survey: Survey) -> list[BarChart]:
    """Return histograms of duration, tokens and speech rate, and the disfluency rates of each role."""
    everything, limit, context_s = survey.everything, survey.tokens.limit, survey.context_s
    rates = Distribution(everything.rates)
    tokens = "Tokens per window" + ("" if survey.tokens.exact else " (estimate)")
    fences = {f"{fence:.2f}": fence for fence in rates.fences or () if fence > 0}
    made = [
        _histogram(
            "Window duration in seconds", Distribution(everything.durations), {f"context {context_s:g} s": context_s}
        ),
        _histogram(tokens, Distribution(everything.tokens), {f"limit {limit}": float(limit)}),
        _histogram("Words per second per window; lines mark the limits for outliers", rates, fences),
        _disfluencies(survey.rates()),
    ]
    return [figure for figure in made if figure.bars]


def _histogram(title: str, distribution: Distribution, limits: Mapping[str, float]) -> BarChart:
    quartiles = distribution.quartiles
    counts, width = distribution.histogram(max(limits.values(), default=0.0))
    top, right = max(counts, default=0) or 1, width * len(counts)
    high = ticks(top)[-1]

    def x(value: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * value / right, 1)

    def y(value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * value / high, 1)

    bars = tuple(
        Bar(
            x(width * at),
            min(y(count), _BOTTOM - 1),  # one window among thousands must stay visible
            round(x(width * (at + 1)) - x(width * at) - 0.8, 1),
            max(round(_BOTTOM - y(count), 1), 1),
            f"{format_number(width * at)} to {format_number(width * (at + 1))}: {count}",
        )
        for at, count in enumerate(counts)
        if count
    )
    x_ticks = tuple((x(tick), f"{tick:g}") for tick in ticks(right) if tick <= right)
    y_ticks = tuple((y(tick), f"{tick:g}") for tick in ticks(top) if tick == int(tick))
    words = ", ".join(map(format_number, quartiles)) if quartiles else "nothing"
    summary = f"{title}: minimum, quartiles and maximum are {words}"
    # With two limits, the labels point away from each other, so that they never overlap.
    sides = ("end", "start")
    marks = tuple((x(value), text, side) for (text, value), side in zip(limits.items(), sides, strict=False))
    return BarChart(title, summary, _BOTTOM + 20, bars, x_ticks, y_ticks, marks)


def _disfluencies(rates: Mapping[str, Mapping[str, float | None]]) -> BarChart:
    """Return horizontal bars, one per kind and role, for at most four roles."""
    roles = list(rates)[:_ROLES]
    text = {role: {kind: rate for kind, rate in rates[role].items() if rate} for role in roles}
    kinds = list(dict.fromkeys(kind for role in roles for kind in text[role]))
    steps = ticks(max((rate or 0.0 for role in roles for rate in text[role].values()), default=0.0) or 1.0)
    thick, pitch = 9.0, 9.0 * len(roles) + 8
    bottom = _TOP + pitch * len(kinds)

    def length(value: float) -> float:
        return round((_RIGHT - _NAMES) * value / steps[-1], 1)

    bars = tuple(
        Bar(
            _NAMES,
            _TOP + pitch * at + thick * number_of_role,
            max(length(rate), 1),
            thick - 1,
            f"{role}, {kind.replace('_', ' ')}: {format_number(rate)}",
            number_of_role,
        )
        for at, kind in enumerate(kinds)
        for number_of_role, role in enumerate(roles)
        if (rate := text[role].get(kind))
    )
    names = tuple((_TOP + pitch * at + thick * len(roles) / 2, kind.replace("_", " ")) for at, kind in enumerate(kinds))
    x_ticks = tuple((_NAMES + length(tick), f"{tick:g}") for tick in steps)
    title = "Disfluencies per 100 fluent words"
    return BarChart(title, f"{title}; see the table for numbers", bottom + 20, bars, x_ticks, names, (), tuple(roles))


def ticks(top: float) -> list[float]:
    """Return at most six round numbers from 0 to the first one that is not below ``top``.

    >>> ticks(13), ticks(448), ticks(0.4)
    ([0.0, 5.0, 10.0, 15.0], [0.0, 100.0, 200.0, 300.0, 400.0, 500.0], [0.0, 0.1, 0.2, 0.3, 0.4])
    """
    power = 10.0 ** floor(log10(top / 5))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power * 5 >= top * (1 - 1e-9))
    count = 0
    while step * count < top * (1 - 1e-9):
        count += 1
    return [round(step * at, 10) for at in range(count + 1)]
