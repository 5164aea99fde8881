"""Numbers as text: for the terminal, and wherever a report needs the same words."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.scoring.bootstrap import Interval


def percent(value: float | None, interval: Interval | None = None) -> str:
    """Return a share as text, with its interval when there is one.

    >>> percent(0.125), percent(None), percent(0.1, Interval(0.05, 0.2))
    ('12.5 %', '-', '10.0 % (5.0 to 20.0)')
    """
    if value is None:
        return "-"
    if interval is None:
        return f"{100 * value:.1f} %"
    return f"{100 * value:.1f} % ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equal length as lines with aligned columns.

    >>> print(columns([["", "a"], ["words", "1"]]))
           a
    words  1
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
