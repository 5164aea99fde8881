"""Cells of the report's tables: rates with their intervals, word error counts, column heads with their definitions."""

from __future__ import annotations

from lsa_whisper.evaluate.glossary import COLUMNS
from lsa_whisper.page.tables import TableCell
from lsa_whisper.scoring.bootstrap import Interval
from lsa_whisper.scoring.counts import WordErrors

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
    small = "" if interval is None else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    return TableCell(percent(value), small)


def error_cells(errors: WordErrors) -> tuple[TableCell, ...]:
    """Return the cells under :data:`ERROR_HEADS`."""
    counts = errors.reference_words, errors.substitutions, errors.deletions, errors.insertions
    return (TableCell(percent(errors.rate)), *(TableCell(f"{count:,}") for count in counts))
