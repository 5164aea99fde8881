"""Tables of a report: cells of text, each with an optional remark and an explanation shown on hover."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from lsa_whisper.page.language import gettext


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell: its text, a remark in small print below it, and an explanation shown on hover."""

    text: str
    small: str = ""
    hover: str = ""
    correct: bool = False
    """In a confusion matrix: whether the cell counts correct results, which its color shows."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with a title and a sentence on how to read it; a ``folded`` table opens on demand."""

    title: str
    lead: str
    head: tuple[TableCell, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    folded: bool = False
    for_engineers: bool = False
    """Whether it belongs to the part for readers with a technical background."""
    sortable: bool = False
    """Whether its rows can be sorted by any column on a page."""
    matrix: bool = False
    """Whether this is a confusion matrix, in which a color marks correct and wrong counts."""

    @property
    def by_system(self) -> bool:
        """Whether rows with the same first cell belong together, one per system."""
        return len(self.head) > 1 and self.head[1].text == gettext("System")

    @property
    def groups(self) -> list[list[tuple[TableCell, ...]]]:
        """The rows, grouped by their first cell in a table by system."""
        if not self.by_system or self.sortable:
            return [[row] for row in self.rows]
        return [list(rows) for _, rows in groupby(self.rows, key=lambda row: row[0])]
