"""Features of words as templates over tables: written for training, summed for many utterances at once.

A table has a row for each thing that a word has features of: the word itself, a copy of it, a window around it. A
template is the name of a feature with the columns that it is made of, each with a place: ``{kind:-1}`` is the kind of
the word before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from string import Formatter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
START, END = "<start>", "<end>"
"""What stands before the first word and behind the last one."""
ABSENT = "(absent)"
"""A value that a row does not have; a feature that needs it is not there."""
ONLY_IF = (ABSENT, "")
"""The values of a column that decides whether a feature is there."""
_MAX_COUNTED = 1 << 20
_PRIME = 1_048_573
_REMEMBERED = 1 << 14  # texts whose numbers are kept, since many templates have the same ones


class Template(NamedTuple):
    """A feature's name with a gap for each of ``parts``, which are columns and places."""

    name: str
    parts: tuple[tuple[str, int], ...]


def read_templates(text: str) -> tuple[Template, ...]:
    """Return the templates in ``text``, one on each line."""
    templates = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        pieces = list(Formatter().parse(line))
        name = "".join(f"{literal}{{}}" if column else literal for literal, column, _, _ in pieces)
        templates.append(Template(name, tuple((column, int(place or 0)) for _, column, place, _ in pieces if column)))
    return tuple(templates)


@dataclass(frozen=True)
class Column:
    """What is known of each row: an index into ``values`` for each."""

    values: Sequence[str]
    indices: Numbers

    @classmethod
    def read(cls, values: Iterable[str]) -> Column:
        """Return the column with these ``values``."""
        numbers: dict[str, int] = {}
        indices = [numbers.setdefault(value, len(numbers)) for value in values]
        return cls(list(numbers), np.array(indices, dtype=np.int64))

    @classmethod
    def count(cls, numbers: Numbers) -> Column:
        """Return the column of ``numbers`` from zero up."""
        return cls([str(number) for number in range(int(numbers.max(initial=0)) + 1)], numbers)

    def of(self, function: Callable[[str], str]) -> Column:
        """Return the column with ``function`` of each value; edges stay."""
        column = Column.read(value if value in (START, END) else function(value) for value in self.values)
        return Column(column.values, column.indices[self.indices])

    def at(self, rows: Numbers) -> Column:
        """Return the column of these ``rows`` only."""
        return Column(self.values, self.indices[rows])

    def where(self, holds: npt.NDArray[np.bool_]) -> Column:
        """Return the column with the values of the rows for which ``holds`` is true."""
        return Column((*self.values, ABSENT), np.where(holds, self.indices, len(self.values)))


class NumberedNames:
    """The names that are known, numbered from 1.

    Most names that are not known are told without spelling them out: by their bytes as a number, modulo a prime. The
    number of two texts together is that of the first plus that of the second, shifted by the length of the first.
    """

    def __init__(self, names: Iterable[str]):
        """Number the ``names``."""
        self._numbers = {name: number for number, name in enumerate(names, start=1)}
        self._may = np.zeros(_PRIME, dtype=bool)
        self._may[[_number(name) for name in self._numbers]] = True

    def of(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of ``names``; 0 for one that is not known."""
        return [self._numbers.get(name, 0) for name in names]

    def of_rows(self, name: str, gaps: Sequence[tuple[Sequence[str], Numbers]]) -> Numbers:
        """Return the number of a template's ``name`` with the values of each row in its ``gaps``."""
        (rows,) = np.nonzero(self._may_have(name, gaps))
        numbers = np.zeros(len(gaps[0][1]), dtype=np.int64)
        numbers[rows] = self.of(_spelled(name, [(values, indices[rows]) for values, indices in gaps]))
        return numbers

    def _may_have(self, name: str, gaps: Iterable[tuple[Sequence[str], Numbers]]) -> npt.NDArray[np.bool_]:
        first, *literals = name.split("{}")
        number, shift = map(np.array, _number_and_shift(first))
        for (values, indices), literal in zip(gaps, literals, strict=True):
            pairs = [_number_and_shift(value + literal) for value in values]
            numbers, shifts = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
            number = (number + shift * numbers[indices]) % _PRIME
            shift = shift * shifts[indices] % _PRIME
        may: npt.NDArray[np.bool_] = self._may[number]
        return may


def _spelled(name: str, gaps: Iterable[tuple[Sequence[str], Numbers]]) -> list[str]:
    texts = ([values[index] for index in indices.tolist()] for values, indices in gaps)
    return [name.format(*values) for values in zip(*texts, strict=True)]


def _number(text: str) -> int:
    return int.from_bytes(text.encode(errors="replace"), "little") % _PRIME


@lru_cache(_REMEMBERED)
def _number_and_shift(text: str) -> tuple[int, int]:
    return _number(text), pow(256, len(text.encode(errors="replace")), _PRIME)


@dataclass(frozen=True)
class Table:
    """Things that words have features of.

    Attributes:
        words: The word that each row belongs to, as its number among the words of all utterances.
        columns: What is known of each row.
        templates: The features.
        own: The place of each row in the columns, where these have more than the rows.
    """

    words: Numbers
    columns: Mapping[str, Column]
    templates: Sequence[Template]
    own: Numbers | None = None

    def features(self) -> Iterator[tuple[list[str], Numbers]]:
        """Yield, for each template, each feature that there is once, and which of them each row has."""
        for name, gaps, inverse in self._combinations():
            yield _spelled(name, gaps), inverse

    def known(self, names: NumberedNames) -> Iterator[Numbers]:
        """Yield, for each template, the number of each row's feature among ``names``; 0 for one that is not known."""
        for name, gaps, inverse in self._combinations():
            yield names.of_rows(name, gaps)[inverse]

    def _combinations(self) -> Iterator[tuple[str, list[tuple[Sequence[str], Numbers]], Numbers]]:
        """Yield, for each template, the values of its gaps, each combination once, and which of these each row has."""
        by_part: dict[tuple[str, int], Numbers] = {}
        for name, parts in self.templates:
            for part in parts:
                if part not in by_part:
                    by_part[part] = self._indices(*part)
            columns = [(self.columns[part[0]].values, by_part[part]) for part in parts]
            codes, inverse = _different(columns)
            gaps: list[tuple[Sequence[str], Numbers]] = []
            for values, _ in reversed(columns):
                codes, indices = np.divmod(codes, len(values))
                gaps.insert(0, (values, indices))
            yield name, gaps, inverse

    def _indices(self, column: str, place: int) -> Numbers:
        indices = self.columns[column].indices
        return indices if self.own is None else indices[self.own + place]


def _different(columns: Sequence[tuple[Sequence[str], Numbers]]) -> tuple[Numbers, Numbers]:
    """Return each combination of the values once, as a number, and which of them each row has."""
    codes = columns[0][1]
    for values, indices in columns[1:]:
        codes = codes * len(values) + indices
    size = prod(len(values) for values, _ in columns)
    if size > _MAX_COUNTED:
        different, inverse = np.unique(codes, return_inverse=True)
        return different, inverse
    present = np.zeros(size, dtype=bool)
    present[codes] = True
    different = np.flatnonzero(present)
    places = np.empty(size, dtype=np.int64)
    places[different] = np.arange(len(different))
    return different, places[codes]


def names(tables: Iterable[Table], count: int) -> list[list[str]]:
    """Return the features of each of ``count`` words."""
    by_word: list[list[str]] = [[] for _ in range(count)]
    for table in tables:
        for features, inverse in table.features():
            for word, at in zip(table.words.tolist(), inverse.tolist(), strict=True):
                if ABSENT not in features[at]:
                    by_word[word].append(features[at])
    return by_word


def best_around(first: Numbers, end: Numbers, order: Numbers, ranks: int) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield, for each rank, the words that lie in so many stretches of words, and the best of these around each.

    Each stretch has a first word and a word behind its last one; ``order`` has the best first, and so many ``ranks``
    are looked for.
    """
    lengths = end - first
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    places = np.repeat(place, lengths)
    words = np.arange(len(places)) + np.repeat(first - np.cumsum(lengths) + lengths, lengths)
    for _ in range(ranks):
        best = np.full(end.max(initial=0), len(order))
        np.minimum.at(best, words, places)
        inside = np.flatnonzero(best < len(order))
        yield inside, order[best[inside]]
        others = places != best[words]
        words, places = words[others], places[others]
