"""The aligned utterances of a report, compact enough to be drawn by the page as one scrolls."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.cells import Cell, Row

MOST_ROWS = 5000
KINDS = list(Disfluency)


class Shown:
    """The utterances to show: of more than ``most`` those with most errors in any system, the earlier among equals.

    Only they are held, so that a corpus need not fit in memory.
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._added = 0
        self._kept: list[tuple[int, int, list[Any]]] = []

    def add(self, file: int, systems: Sequence[Sequence[Row]]) -> None:
        """Add the utterances of the ``file``-th file, as each system has them."""
        for aligned in _per_utterance(systems):
            scored = [_scored(row) for row in aligned]
            row = [file, *_facts(next(row for row in aligned if row)), scored]
            entry = max(errors for errors, *_ in scored), -self._added, row
            self._added += 1
            if len(self._kept) < self._most:
                heapq.heappush(self._kept, entry)
            else:
                heapq.heappushpop(self._kept, entry)

    @property
    def rows(self) -> list[list[Any]]:
        """The utterances in order, as plain JSON values.

        Each is ``[file, speaker, start_s, end_s, CHAT text, [per system: [errors, words, cells]]]`` with cells
        ``[reference, hypothesis, operation, reference class, hypothesis class]`` (classes index :data:`KINDS`, -1 =
        none).
        """
        return [row for _, _, row in sorted(self._kept, key=lambda entry: -entry[1])]

    @property
    def left_out(self) -> int:
        """How many utterances are not among the rows."""
        return self._added - len(self._kept)


def _per_utterance(systems: Sequence[Sequence[Row]]) -> list[list[Row | None]]:
    """Return, per reference utterance of one file with anything to show, its row in every system."""
    found: dict[int, list[Row | None]] = {}
    for position, rows in enumerate(systems):
        for row in rows:
            if row.cells:
                found.setdefault(row.utterance, [None] * len(systems))[position] = row
    return [rows for _, rows in sorted(found.items())]


def _facts(row: Row) -> list[Any]:
    times = (None, None) if row.span is None else (row.span.start_ms / 1000, row.span.end_ms / 1000)
    return [row.speaker, *times, row.text]


def _scored(row: Row | None) -> list[Any]:
    if row is None:
        return [0, 0, []]
    return [row.errors.errors, row.errors.reference_words, [_cell(cell) for cell in row.cells]]


def _cell(cell: Cell) -> list[Any]:
    classes = (-1 if kind is None else KINDS.index(kind) for kind in (cell.reference_class, cell.hypothesis_class))
    return [cell.reference, cell.hypothesis, cell.operation, *classes]
