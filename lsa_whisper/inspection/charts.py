"""Where the bars of the page's figures stand; the template draws them as inline SVG."""

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
    """A rectangle, and what it says when pointed at; ``series`` is its colour."""

    x: float
    y: float
    width: float
    height: float
    text: str
    series: int = 0


@dataclass(frozen=True, slots=True)
class BarChart:
    """A figure in SVG units, 396 wide.

    Attributes:
        title: What it shows.
        summary: The same in words, for those who cannot see it.
        height: Of the whole.
        bars: Upright ones (a histogram) or lying ones.
        across: Ticks along x as (place, text), with a line over the whole height.
        up: The same along y; the names of lying bars.
        rules: Limits as (x, text, which end of the text is there).
        key: What each colour stands for; empty with one.
    """

    title: str
    summary: str
    height: float
    bars: tuple[Bar, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    rules: tuple[tuple[float, str, str], ...] = ()
    key: tuple[str, ...] = ()


def survey_charts(survey: Survey) -> list[BarChart]:
    """Return the histograms of duration, tokens and tempo, and the disfluencies of each role."""
    everything, limit, context_s = survey.everything, survey.tokens.limit, survey.context_s
    rates = Distribution(everything.rates)
    tokens = "Tokens of a window" + ("" if survey.tokens.exact else " (estimate)")
    fences = {f"{fence:.2f}": fence for fence in rates.fences or () if fence > 0}
    made = [
        _histogram("Seconds of a window", Distribution(everything.durations), {f"context {context_s:g} s": context_s}),
        _histogram(tokens, Distribution(everything.tokens), {f"limit {limit}": float(limit)}),
        _histogram("Words per second of a window; outside the lines lie outliers", rates, fences),
        _disfluencies(survey.rates()),
    ]
    return [figure for figure in made if figure.bars]


def _histogram(title: str, distribution: Distribution, rules: Mapping[str, float]) -> BarChart:
    quartiles = distribution.quartiles
    counts, width = distribution.histogram(max(rules.values(), default=0.0))
    top, right = max(counts, default=0) or 1, width * len(counts)
    high = ticks(top)[-1]

    def x(value: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * value / right, 1)

    def y(value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * value / high, 1)

    bars = tuple(
        Bar(
            x(width * at),
            min(y(count), _BOTTOM - 1),  # one among thousands must still be seen
            round(x(width * (at + 1)) - x(width * at) - 0.8, 1),
            max(round(_BOTTOM - y(count), 1), 1),
            f"{format_number(width * at)} to {format_number(width * (at + 1))}: {count}",
        )
        for at, count in enumerate(counts)
        if count
    )
    across = tuple((x(tick), f"{tick:g}") for tick in ticks(right) if tick <= right)
    up = tuple((y(tick), f"{tick:g}") for tick in ticks(top) if tick == int(tick))
    words = ", ".join(map(format_number, quartiles)) if quartiles else "nothing"
    summary = f"{title}: least, lower quartile, median, upper quartile, most are {words}"
    # The label of an upper limit stands outside when there is a lower one too, so that the two never meet.
    sides = ("end", "start")
    marks = tuple((x(value), text, side) for (text, value), side in zip(rules.items(), sides, strict=False))
    return BarChart(title, summary, _BOTTOM + 20, bars, across, up, marks)


def _disfluencies(rates: Mapping[str, Mapping[str, float | None]]) -> BarChart:
    """Return lying bars, one per kind and role; more than four roles would not be told apart."""
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
    across = tuple((_NAMES + length(tick), f"{tick:g}") for tick in steps)
    title = "Disfluencies per 100 fluent words"
    return BarChart(title, f"{title}; the table has the numbers", bottom + 20, bars, across, names, (), tuple(roles))


def ticks(top: float) -> list[float]:
    """Return round numbers from 0 to the first one that is not below ``top``, five or six of them at most.

    >>> ticks(13), ticks(448), ticks(0.4)
    ([0.0, 5.0, 10.0, 15.0], [0.0, 100.0, 200.0, 300.0, 400.0, 500.0], [0.0, 0.1, 0.2, 0.3, 0.4])
    """
    power = 10.0 ** floor(log10(top / 5))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power * 5 >= top * (1 - 1e-9))
    count = 0
    while step * count < top * (1 - 1e-9):
        count += 1
    return [round(step * at, 10) for at in range(count + 1)]
