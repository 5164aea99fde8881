"""One table of a report: cells of text with a remark and a hover definition."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from lsa_whisper.evaluate.glossary import COLUMNS
from lsa_whisper.evaluate.text import percent
from lsa_whisper.scoring.bootstrap import Interval
from lsa_whisper.scoring.counts import WordErrors

COUNTED = ("Word errors", "Words", "Replaced", "Left out", "Added")
"""The heads of word counts; the rate comes first, where it is seen on a narrow screen."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell: its text, a smaller remark below it, and what pointing at it explains."""

    text: str
    small: str = ""
    hover: str = ""
    right: bool = False
    """In a matrix: whether what is counted is right, which the cell's colour shows."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title and a sentence that says how to read it; ``folded`` ones open on demand."""

    title: str
    lead: str
    head: tuple[Entry, ...]
    rows: tuple[tuple[Entry, ...], ...]
    folded: bool = False
    matrix: bool = False
    """Whether the cells are counts whose size is shown by their colour."""

    @property
    def by_system(self) -> bool:
        """Whether rows that share their first cell belong together, one per system."""
        return len(self.head) > 1 and self.head[1].text == "System"

    @property
    def groups(self) -> list[list[tuple[Entry, ...]]]:
        """The rows; those that belong together in one list."""
        if not self.by_system:
            return [[row] for row in self.rows]
        return [list(rows) for _, rows in groupby(self.rows, key=lambda row: row[0])]


def head(*names: str) -> tuple[Entry, ...]:
    """Return the head of a table; names that the glossary knows explain themselves."""
    return tuple(Entry(name, hover=COLUMNS.get(name, "")) for name in names)


def with_interval(value: float | None, interval: Interval | None) -> Entry:
    """Return a share, and below it the range it lies in."""
    small = "" if interval is None else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    return Entry(percent(value), small)


def counted(errors: WordErrors) -> tuple[Entry, ...]:
    """Return the entries below :data:`COUNTED`."""
    counts = errors.reference_words, errors.substitutions, errors.deletions, errors.insertions
    return (Entry(percent(errors.rate)), *(Entry(f"{count:,}") for count in counts))
