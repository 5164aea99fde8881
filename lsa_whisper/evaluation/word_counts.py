"""The words that systems get wrong most often: left out, replaced by another word, or made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from lsa_whisper.evaluation.cells import head_cells
from lsa_whisper.page.language import gettext, page_number
from lsa_whisper.page.tables import ReportTable, TableCell
from lsa_whisper.scoring.aligned_utterances import AlignedUtterance

_MAX_WORDS = 25
"""Rows of the table for each system."""
_MAX_REPLACEMENTS = 3


class WordCounts:
    """How often each word occurs, and what one system wrote for it.

    >>> WordCounts().rows("a")
    []
    """

    def __init__(self) -> None:
        self._spoken: Counter[str] = Counter()
        self._deleted: Counter[str] = Counter()
        self._inserted: Counter[str] = Counter()
        self._replaced: dict[str, Counter[str]] = {}

    def add(self, utterances: Iterable[AlignedUtterance]) -> None:
        """Add the words of one file."""
        for utterance in utterances:
            for column in utterance.columns:
                word, other = column.reference.casefold(), column.hypothesis.casefold()
                if word and column.operation != "x":
                    self._spoken[word] += 1
                if column.operation == "d":
                    self._deleted[word] += 1
                elif column.operation == "i":
                    self._inserted[other] += 1
                elif column.operation == "s":
                    self._replaced.setdefault(word, Counter())[other] += 1

    def rows(self, system: str) -> list[tuple[TableCell, ...]]:
        """Return the words with the most errors: how often each was spoken, left out, replaced and made up."""
        wrong = self._deleted + self._inserted
        wrong.update({word: counts.total() for word, counts in self._replaced.items()})
        worst = sorted(wrong, key=lambda word: (-wrong[word], word))[:_MAX_WORDS]
        return [(TableCell(word), TableCell(system), *map(TableCell, self._texts(word))) for word in worst]

    def _texts(self, word: str) -> Iterator[str]:
        counts = self._replaced.get(word, Counter())
        yield from (
            page_number(f"{n:,}")
            for n in (self._spoken[word], self._deleted[word], counts.total(), self._inserted[word])
        )
        yield ", ".join(f"{other} ({count:,})" for other, count in counts.most_common(_MAX_REPLACEMENTS))


def word_table(counts: Mapping[str, WordCounts]) -> ReportTable:
    """Return the words with the most errors of each system."""
    heads = "Word", "System", "Spoken", "Left out", "Replaced", "Made up", "Replaced by"
    return ReportTable(
        gettext("Words with the most errors"),
        gettext(
            "At most {n} words of each system. The first word of each row is the reference's; a made-up word is the "
            "system's."
        ).format(n=_MAX_WORDS),
        head_cells(*heads),
        tuple(row for name, own in counts.items() for row in own.rows(name)),
        folded=True,
        sortable=True,
    )
