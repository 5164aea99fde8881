"""Cells of the report's tables: rates with their intervals, word error counts, column heads with their definitions."""

from __future__ import annotations

from lsa_whisper.evaluation.glossary import COLUMNS
from lsa_whisper.page.tables import TableCell
from lsa_whisper.scoring.bootstrap import Interval
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.proportion import MIN_EVENTS, wilson_interval

ERROR_HEADS = ("Word errors", "Words", "Substitutions", "Deletions", "Insertions")
"""Column heads of word errors; the rate comes first, where a narrow screen shows it."""


def percent(value: float | None, interval: Interval | None = None) -> str:
    """Return a share as text, with its interval if there is one.

    >>> percent(0.125), percent(None), percent(0.1, Interval(0.05, 0.2))
    ('12.5 %', '-', '10.0 % (5.0 to 20.0)')
    """
    if value is None:
        return "-"
    if interval is None:
        return f"{100 * value:.1f} %"
    return f"{100 * value:.1f} % ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def head_cells(*names: str) -> tuple[TableCell, ...]:
    """Return the head of a table; names in the glossary show their definition on hover."""
    return tuple(TableCell(name, hover=COLUMNS.get(name, "")) for name in names)


def interval_cell(value: float | None, interval: Interval | None) -> TableCell:
    """Return the cell of a share, its confidence interval in small print."""
    known = interval_or_none(interval)
    return TableCell(percent(value), "" if known is None else f"{100 * known.low:.1f} to {100 * known.high:.1f}")


def interval_or_none(interval: Interval | None) -> Interval | None:
    """Return ``interval``, unless it is one point: all resamples agree, which shows no certainty.

    >>> interval_or_none(Interval(0.0, 0.0)) is None
    True
    """
    return None if interval is None or interval.low == interval.high else interval


def share_cell(found: int, of: int) -> TableCell:
    """Return the cell of a share of few events, with Wilson's interval, or that there are too few to judge.

    >>> share_cell(0, 4).text, share_cell(56, 82).small
    ('too few to judge', '57.6 to 77.4')
    """
    interval = wilson_interval(found, of)
    if interval is None:
        return TableCell("-")
    small = f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    if of < MIN_EVENTS:
        return TableCell("too few to judge", small)
    return TableCell(percent(found / of), small)


def plain_number(value: float | None, decimals: int, *, sign: bool = False) -> str:
    """Return a number with a fixed number of decimals, and zero without a sign.

    >>> plain_number(-0.001, 2), plain_number(1.5, 1, sign=True), plain_number(-0.0, 1, sign=True)
    ('0.00', '+1.5', '0.0')
    """
    if value is None:
        return "-"
    rounded = round(value, decimals)
    return f"{rounded:{'+' if sign and rounded else ''}.{decimals}f}" if rounded else f"{0:.{decimals}f}"


def decimals_for(*values: float | None) -> int:
    """Return how many decimals a row of measures needs: about three digits of its largest value.

    >>> decimals_for(185.67, 180.0), decimals_for(12.34), decimals_for(1.5), decimals_for(None)
    (0, 1, 2, 2)
    """
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return 0 if largest >= 100 else 1 if largest >= 10 else 2


def error_cells(errors: WordErrors) -> tuple[TableCell, ...]:
    """Return the cells under :data:`ERROR_HEADS`."""
    counts = errors.reference_words, errors.substitutions, errors.deletions, errors.insertions
    return (TableCell(percent(errors.rate)), *(TableCell(f"{count:,}") for count in counts))
