"""The words of some utterances as a table, and features of a word that name the words around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lsa_whisper.retraces.tables import ABSENT, END, ONLY_IF, START, Column, Numbers, Table, read_templates
from lsa_whisper.retraces.word_kinds import broad_kind, word_class, word_kind
from lsa_whisper.retraces.words import SpokenWord

BEFORE, AFTER = 2, 3
"""How many edges an utterance has before its first word and behind its last one."""
_FAR = 4
_GAPS_MS = (30, 150, 400, 1000)
_PARTED = tuple("-" * cut + "~" * filler + "," * comma for cut in (0, 1) for filler in (0, 1) for comma in (0, 1))
"""What parts a word from the one before: a cut-off word (-), a filler (~), a comma."""

_WORDS_AROUND = read_templates("""
    {always:0}
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
_SIGNS = read_templates("""
    cut off -2{if cut off:-2}
    cut off -1{if cut off:-1}
    cut off 0{if cut off:0}
    cut off 1{if cut off:1}
    cut off 2{if cut off:2}
    cut off 3{if cut off:3}
    filler before -1{if filler:-1}
    filler before 0{if filler:0}
    filler before 1{if filler:1}
    filler before 2{if filler:2}
    filler before 3{if filler:3}
    comma before 0{if comma:0}
    comma before 1{if comma:1}
    cut off, length {length:0}{if cut off:0}
""")
_TIMES = read_templates("""
    gap 0: {gap:0}
    gap 1: {gap:1}
    gap 2: {gap:2}
    length: {duration:0}
""")
_BREAKS = read_templates("break: {class:0} {cut off:0} {filler:1} {class:1}")
_KINDS_AROUND = read_templates("""
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


class WordColumns:
    """The words of some utterances, one behind the other, and their columns, which have edges around each utterance.

    Attributes:
        all_words: The words.
        own: The place of each word in the columns.
        ends: The number of the word behind each word's utterance.
        columns: What is known of each word.
        cut_off, after_filler: Which words are so, 0 or 1.
    """

    def __init__(self, utterances: Sequence[Sequence[SpokenWord]]):
        """Read the words of ``utterances``."""
        counts = np.array([len(words) for words in utterances], dtype=np.int64)
        self.all_words = [word for words in utterances for word in words]
        self.ends = np.repeat(np.cumsum(counts), counts)
        to_end = self.ends - np.arange(len(self.all_words)) - 1
        at = np.repeat(counts, counts) - 1 - to_end
        self.own = np.arange(len(at)) + BEFORE + (BEFORE + AFTER) * np.repeat(np.arange(len(counts)), counts)
        self._size = len(at) + (BEFORE + AFTER) * len(counts)
        self.cut_off = np.array([word.cut_off for word in self.all_words], dtype=np.int64)
        self.after_filler = np.array([word.after_filler for word in self.all_words], dtype=np.int64)
        after_comma = np.array([word.after_comma for word in self.all_words], dtype=np.int64)
        column = Column.read([START, END, *(word.text for word in self.all_words)])
        texts = self._spread(column.indices[2:], edge=1)
        firsts = self.own[at == 0]
        texts[firsts - 1] = texts[firsts - 2] = 0
        text = Column(column.values, texts)
        kind = text.of(word_kind)
        breaks = 4 * np.roll(self.cut_off, 1) + 2 * self.after_filler + after_comma
        self.columns = {
            "always": Column(("always",), np.zeros(self._size, dtype=np.int64)),
            "text": text,
            "class": text.of(word_class),
            "kind": kind,
            "broad": kind.of(broad_kind),
            "length": text.of(lambda word: str(min(len(word), 5))),
            "parted": Column((*_PARTED, ABSENT), self._spread(np.where(at, breaks, len(_PARTED)), edge=len(_PARTED))),
            "cut off": Column(("False", "True"), self._spread(self.cut_off)),
            "filler": Column(("False", "True", ABSENT), self._spread(self.after_filler, edge=2)),
            "from start": Column.count(self._spread(np.minimum(at, _FAR))),
            "to end": Column.count(self._spread(np.minimum(to_end, _FAR))),
            "if cut off": Column(ONLY_IF, self._spread(self.cut_off)),
            "if filler": Column(ONLY_IF, self._spread(self.after_filler)),
            "if comma": Column(ONLY_IF, self._spread(after_comma)),
        }
        self._signs = _SIGNS if breaks.any() else ()

    def of_word(self, name: str, words: Numbers, place: int = 0) -> Column:
        """Return the column ``name`` of these ``words``, or of what stands at a ``place`` beside each."""
        return self.columns[name].at(self.own[words] + place)

    def tables(self) -> Iterator[Table]:
        """Yield the tables of the words themselves."""
        everyone = np.arange(len(self.all_words))
        yield Table(everyone, self.columns, (*_WORDS_AROUND, *self._signs, *_BREAKS), self.own)
        if any(word.span for word in self.all_words):
            yield Table(everyone, self._times(), _TIMES, self.own)

    def kinds(self) -> Table:
        """Return the table of the kinds of the words around each word."""
        return Table(np.arange(len(self.all_words)), self.columns, _KINDS_AROUND, self.own)

    def _times(self) -> dict[str, Column]:
        """Return the silence before each word, and its length, in coarse steps."""
        spans = [word.span for word in self.all_words]
        gaps = [len(_GAPS_MS) + 1] * len(spans)
        for at, (before, after) in enumerate(pairwise(spans), start=1):
            if before and after and self.ends[at - 1] > at:
                gaps[at] = sum(after.start_ms - before.end_ms >= limit for limit in _GAPS_MS)
        steps = [*map(str, range(len(_GAPS_MS) + 1)), ABSENT]
        lengths = Column.read([ABSENT, *(str(min(4, span.duration_ms // 150)) if span else ABSENT for span in spans)])
        return {
            "gap": Column(steps, self._spread(gaps, edge=len(steps) - 1)),
            "duration": Column(lengths.values, self._spread(lengths.indices[1:])),
        }

    def _spread(self, values: Any, *, edge: int = 0) -> Numbers:
        spread = np.full(self._size, edge, dtype=np.int64)
        spread[self.own] = values
        return spread
