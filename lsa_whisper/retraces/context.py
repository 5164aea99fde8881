"""Features of a word that name the words around it, as templates: written for training, summed for many utterances.

A template is the name of a feature with the columns that it is made of, each with a place: ``{kind:-1}`` is the kind of
the word before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lsa_whisper.retraces.word_kinds import broad_kind, word_class, word_kind
from lsa_whisper.retraces.words import SpokenWord

Numbers = npt.NDArray[np.int64]
START, END = "<start>", "<end>"
"""What stands before the first word and behind the last one."""
BEFORE, AFTER = 2, 3
"""How many of these an utterance has."""
_FAR = 4
_NO_WORD = "(no word)"
"""A word's place or signs, beyond the words; a feature that needs them is not there."""
_PARTED = tuple("-" * cut + "~" * filler + "," * comma for cut in (0, 1) for filler in (0, 1) for comma in (0, 1))


class Template(NamedTuple):
    """A feature's name with a gap for each of ``parts``, which are columns and places."""

    name: str
    parts: tuple[tuple[str, int], ...]


def _templates(text: str) -> tuple[Template, ...]:
    found = []
    for line in text.split("\n"):
        pieces = list(Formatter().parse(line.strip()))
        name = "".join(f"{literal}{{}}" for literal, column, _, _ in pieces if column)
        if name:
            parts = ((column, int(place or 0)) for _, column, place, _ in pieces if column)
            found.append(Template(name, tuple(parts)))
    return tuple(found)


WORDS_AROUND = _templates("""
    word -1: {text:-1}
    word 0: {text:0}
    word 1: {text:1}
    word 2: {text:2}
    words: {text:0} {text:1}
    words before: {text:-1} {text:0}
    class -1: {class:-1}
    class 0: {class:0}
    class 1: {class:1}
    classes: {class:0} {class:1}
    classes before: {class:-1} {class:0}
    classes around: {class:-1} {class:0} {class:1}
    classes ahead: {class:0} {class:1} {class:2}
    from start: {from start:0}
    to end: {to end:0}
""")
BREAKS = _templates("break: {class:0} {cut off:0} {filler:1} {class:1}")
KINDS_AROUND = _templates("""
    kind -2: {kind:-2}
    kind -1: {kind:-1}
    kind 0: {kind:0}
    kind 1: {kind:1}
    kind 2: {kind:2}
    kinds 0: {kind:0} {kind:1}
    kinds -1: {kind:-1} {kind:0}
    kinds 1: {kind:1} {kind:2}
    kinds -1: {kind:-1} {kind:0} {kind:1}
    kinds 0: {kind:0} {kind:1} {kind:2}
    kinds -2: {kind:-2} {kind:-1} {kind:0}
    broad 0: {broad:0} {broad:1} {broad:2} {broad:3}
    broad -1: {broad:-1} {broad:0} {broad:1} {broad:2}
    kinds after: {kind:0} {parted:1} {kind:1}
    kinds before: {kind:-1} {parted:0} {kind:0}
""")


Texts = Mapping[str, Sequence[str]]
"""The columns of one utterance, by name, with its edges."""


def columns_of(words: Sequence[SpokenWord]) -> Texts:
    """Return the columns of an utterance; :class:`Columns` has those of many."""
    texts = [word.text for word in words]
    kinds = [word_kind(text) for text in texts]
    before, after = [_NO_WORD] * BEFORE, [_NO_WORD] * AFTER
    return {
        "text": _edged(texts),
        "class": _edged([word_class(text) for text in texts]),
        "kind": _edged(kinds),
        "broad": _edged([broad_kind(kind) for kind in kinds]),
        "parted": [*before, _NO_WORD, *(parted_by(words, at) for at in range(1, len(words))), *after],
        "cut off": [*before, *(str(word.cut_off) for word in words), *after],
        "filler": [*before, *(str(word.after_filler) for word in words), *after],
        "from start": [*before, *(str(min(at, _FAR)) for at in range(len(words))), *after],
        "to end": [*before, *(str(min(at, _FAR)) for at in range(len(words) - 1, -1, -1)), *after],
    }


def _edged(values: Sequence[str]) -> list[str]:
    return [*[START] * BEFORE, *values, *[END] * AFTER]


def names(columns: Texts, templates: Sequence[Template]) -> list[list[str]]:
    """Return the features of each word of an utterance by ``templates``, in their order."""
    made: list[list[str]] = [[] for _ in range(len(columns["text"]) - BEFORE - AFTER)]
    for name, parts in templates:
        shifted = (columns[column][BEFORE + place :] for column, place in parts)
        for found, values in zip(made, zip(*shifted, strict=False), strict=False):
            if _NO_WORD not in values:
                found.append(name.format(*values))
    return made


def parted_by(words: Sequence[SpokenWord], at: int) -> str:
    """Return what parts the word ``at`` from the one before: a cut-off word (-), a filler (~), a comma.

    >>> parted_by([SpokenWord("sto", cut_off=True), SpokenWord("story", after_filler=True)], 1)
    '-~'
    """
    word = words[at]
    return "-" * words[at - 1].cut_off + "~" * word.after_filler + "," * word.after_comma


@dataclass(frozen=True)
class Column:
    """What is known of each word: an index into ``values`` for each, edges included."""

    values: Sequence[str]
    indices: Numbers

    def of(self, function: Callable[[str], str]) -> Column:
        """Return the column with ``function`` of each value; edges stay."""
        made = [value if value in (START, END) else function(value) for value in self.values]
        places = {value: at for at, value in enumerate(dict.fromkeys(made))}
        return Column(list(places), np.array([places[value] for value in made])[self.indices])


class Columns:
    """The columns of some utterances, one behind the other, with their edges; ``own`` are the places of the words."""

    def __init__(self, utterances: Sequence[Sequence[SpokenWord]]):
        """Read the words of ``utterances``."""
        counts = np.array([len(words) for words in utterances], dtype=np.int64)
        at = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        self.own = np.arange(len(at)) + BEFORE + (BEFORE + AFTER) * np.repeat(np.arange(len(counts)), counts)
        size = len(at) + (BEFORE + AFTER) * len(counts)
        said = [word for words in utterances for word in words]
        known: dict[str, int] = {START: 0, END: 1}
        texts = np.ones(size, dtype=np.int64)
        texts[self.own] = [known.setdefault(word.text, len(known)) for word in said]
        firsts = self.own[at == 0]
        texts[firsts - 1] = texts[firsts - 2] = 0
        text = Column(list(known), texts)
        kind = text.of(word_kind)
        cut_off, filler, comma = (
            self._spread([getattr(word, name) for word in said], size)
            for name in ("cut_off", "after_filler", "after_comma")
        )
        parted = 4 * np.roll(cut_off, 1) + 2 * filler + comma
        outside = np.ones(size, dtype=bool)
        outside[self.own] = False
        filler[outside] = 2
        outside[firsts] = True
        parted[outside] = len(_PARTED)
        to_end = np.repeat(counts, counts) - 1 - at
        places = [str(place) for place in range(_FAR + 1)]
        self.by_name: Mapping[str, Column] = {
            "text": text,
            "class": text.of(word_class),
            "kind": kind,
            "broad": kind.of(broad_kind),
            "parted": Column((*_PARTED, _NO_WORD), parted),
            "cut off": Column(("False", "True"), cut_off),
            "filler": Column(("False", "True", _NO_WORD), filler),
            "from start": Column(places, self._spread(np.minimum(at, _FAR), size)),
            "to end": Column(places, self._spread(np.minimum(to_end, _FAR), size)),
        }

    def _spread(self, values: Any, size: int) -> Numbers:
        spread = np.zeros(size, dtype=np.int64)
        spread[self.own] = values
        return spread

    def different(self, template: Template) -> tuple[list[str], Numbers]:
        """Return each feature that words have by ``template`` once, and which of them each word has."""
        columns = [(self.by_name[column], place) for column, place in template.parts]
        if len(columns) == 1:
            column, place = columns[0]
            return [template.name.format(value) for value in column.values], column.indices[self.own + place]
        codes: Numbers = np.zeros(len(self.own), dtype=np.int64)
        for column, place in columns:
            codes = codes * len(column.values) + column.indices[self.own + place]
        codes, inverse = np.unique(codes, return_inverse=True)
        said = []
        for column, _ in reversed(columns):
            codes, indices = np.divmod(codes, len(column.values))
            said.append([column.values[index] for index in indices])
        return [template.name.format(*values) for values in zip(*reversed(said), strict=True)], inverse
