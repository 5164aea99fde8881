"""Features of each word for the tagger: the words around it, and where it or its group is repeated.

Two English words are alike as copies, as cut-off beginnings, and as members of one small class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from lsa_whisper.retraces.context import WordColumns
from lsa_whisper.retraces.tables import ABSENT, ONLY_IF, Column, Numbers, Table, best_around, names, read_templates
from lsa_whisper.retraces.word_kinds import OPEN, stem_and_clitic, word_class
from lsa_whisper.retraces.words import SpokenWord

COPIES = frozenset(("same", "completes", "both cut off"))
"""Likenesses that count as a repetition of the same word."""


def likeness(word: SpokenWord, later: SpokenWord) -> str:
    """Return how ``later`` may repeat or replace ``word``; an empty string if in no way.

    >>> likeness(SpokenWord("sto", cut_off=True), SpokenWord("story"))
    'completes'
    >>> likeness(SpokenWord("he"), SpokenWord("she")), likeness(SpokenWord("dog"), SpokenWord("ran"))
    ('same class', '')
    """
    return _likeness(word.text, later.text, word.cut_off, later.cut_off)


@lru_cache(maxsize=200_000)
def _likeness(first: str, second: str, first_cut_off: bool, second_cut_off: bool) -> str:
    if first == second:
        return "same"
    if first_cut_off and second.startswith(first):
        return "completes"
    if first_cut_off and second_cut_off and first[:1] == second[:1]:
        return "both cut off"
    if stem_and_clitic(first)[0] == stem_and_clitic(second)[0]:
        return "same stem"
    if min(len(first), len(second)) >= 4 and first[:4] == second[:4]:
        return "same beginning"
    if second_cut_off and first.startswith(second):
        return "cut off again"
    if first_cut_off and first[:1] == second[:1]:
        return "same sound"
    left, right = word_class(first), word_class(second)
    if left.startswith(OPEN):
        return ""
    if left == right:
        return "same class"
    return "related class" if left.split("+")[0] == right.split("+")[0] else ""


MAX_MATCH_LENGTH = 8
"""How many words ahead a copy is looked for."""
LIKENESSES = (
    "", "same", "completes", "both cut off", "same stem", "same beginning", "cut off again", "same sound", "same class",
    "related class",
)  # fmt: skip
_CODES = {name: code for code, name in enumerate(LIKENESSES)}
MAX_WINDOW = 6
"""The most words that are taken back together."""
_PARTIAL = {"same stem": 0.7, "same beginning": 0.7, "same class": 0.4}
_MATCHED = np.array([1.0 if name in COPIES else _PARTIAL.get(name, 0.0) for name in LIKENESSES])

_COPIES = read_templates("""
    first copy: {found}{if first}
    first copy {distance}: {found}{if first}
    copy {distance}: {found}
    copy {distance}: {found}, next {after}
    copy {distance}: {found}, last {before}
    copy {distance}: {found}, both {before} {after}
    copy {distance}: {found}, class {class if same}
    copy after cut-off: {found}{if cut off}
    copy after filler: {found}{if filler}
""")
_EARLIER = read_templates("""
    no copy{if none}
    is copy {distance}: {earlier}
""")
_GROUPS = read_templates("""
    window {matched}
    window {matched}, {length} words
    window {matched}, {to repair} to repair, {from start} from start
    window {matched}, {cut off} {filler}
""")


class Likenesses:
    """How alike the words of some utterances are to those after them.

    Attributes:
        words: The words.
        inside: Whether the word so many words (first axis) behind each word (second axis) is in the same utterance.
        codes: How alike the two are, as an index into :data:`LIKENESSES`. There are a few more words than there are.
    """

    def __init__(self, words: WordColumns):
        """Compare the ``words``."""
        self.words, count = words, len(words.all_words)
        ahead = np.arange(2 * MAX_WINDOW + 2)[:, None]
        self.inside = np.zeros((len(ahead), count + len(ahead)), dtype=bool)
        self.inside[1:, :count] = np.arange(count) + ahead[1:] < words.ends
        self.codes = np.zeros(self.inside.shape, dtype=np.int8)
        first, distance = np.nonzero(self._may_be_alike().T)
        texts, cuts = [word.text for word in words.all_words], [word.cut_off for word in words.all_words]
        self.codes[distance, first] = [
            _CODES[_likeness(texts[at], texts[to], cuts[at], cuts[to])]
            for at, to in zip(first.tolist(), (first + distance).tolist(), strict=True)
        ]

    def _may_be_alike(self) -> npt.NDArray[np.bool_]:
        """Return which pairs share a stem, a beginning or a class, as whole words must, or are cut off."""
        text = self.words.columns["text"]
        traits = [text.of(of).indices[self.words.own] for of in (_stem, _beginning, _closed_class)]
        may = np.zeros(self.inside.shape, dtype=bool)
        for distance in range(1, MAX_MATCH_LENGTH + 1):
            size = max(len(self.words.all_words) - distance, 0)
            alike = self.words.cut_off[:size] + self.words.cut_off[distance:] > 0
            for values in traits:
                alike |= values[:size] == values[distance:]
            may[distance, :size] = alike
        return may & self.inside

    @cached_property
    def pairs(self) -> tuple[Numbers, Numbers, Numbers]:
        """The first words of all pairs that are alike, how far ahead the second is, and how many are nearer."""
        first, distance = np.nonzero(self.codes.T)
        return first, distance, np.arange(len(first)) - np.searchsorted(first, first)

    def column(self, distance: Numbers, first: Numbers) -> Column:
        """Return how alike these pairs are."""
        return Column(LIKENESSES, self.codes[distance, first].astype(np.int64))

    def tables(self) -> Iterator[Table]:
        """Yield the tables of words that are like a later one, and of the best groups around each word."""
        yield self._copies()
        yield self._earlier_copies()
        yield self._groups()

    def _copies(self) -> Table:
        """Where the word is repeated, and whether its neighbours are too."""
        first, distance, nearer = self.pairs
        second, apart = first + distance, distance > 1
        column = self.column(distance, first)
        columns = {
            "found": column,
            "distance": Column.count(distance),
            "after": Column(
                (*LIKENESSES, "-"), np.where(apart, self.codes[distance, first + 1], np.int64(len(LIKENESSES)))
            ),
            "before": Column(LIKENESSES, np.where(apart, self.codes[distance, first - 1], np.int64(0))),
            "class if same": self.words.of_word("class", first).where(column.indices == _CODES["same"]),
            "if first": Column(ONLY_IF, (nearer == 0).astype(np.int64)),
            "if cut off": Column(ONLY_IF, apart * self.words.cut_off[second - 1]),
            "if filler": Column(ONLY_IF, self.words.after_filler[second]),
        }
        return Table(first, columns, _COPIES)

    def _earlier_copies(self) -> Table:
        """The nearest word before each word that it is a copy of, and which words have no copy ahead."""
        count = len(self.words.all_words)
        nearest, alike = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        for distance in range(MAX_WINDOW, 0, -1):
            (first,) = np.nonzero(_MATCHED[self.codes[distance]] == 1)
            nearest[first + distance], alike[first + distance] = distance, self.codes[distance, first]
        columns = {
            "if none": Column(ONLY_IF, (self.codes.max(0)[:count] == 0).astype(np.int64)),
            "distance": Column.count(nearest),
            "earlier": Column((ABSENT, *LIKENESSES[1:]), alike),
        }
        return Table(np.arange(count), columns, _EARLIER)

    def _groups(self) -> Table:
        """The group of words around each word that is best matched by the words after it.

        The first word of a group is like the first of its repair, or the group ends in a cut-off word.
        """
        words, parts = self.words, []
        cut_off_before = np.append(words.cut_off, np.zeros(len(self.inside), dtype=np.int64))
        for length in range(1, MAX_WINDOW + 1):
            ends = self.inside[length] & (np.roll(cut_off_before, 1 - length) > 0)
            (first,) = np.nonzero((self.codes[length] > 0) | ends)
            total = np.zeros(len(first))
            for step in range(length):
                total += _MATCHED[self.codes[length, first + step]]
            parts.append((first, first + length, total / length))
        first, repair, score = map(np.concatenate, zip(*parts, strict=True))
        cut_off, filler = words.cut_off[repair - 1], words.after_filler[repair]
        score = score + 0.2 * cut_off + 0.1 * filler
        order = np.lexsort((first, repair, first - repair, -score))
        ((at, best),) = best_around(first, repair, order, 1)
        columns = {
            "matched": Column.count((score[best] * 5).astype(np.int64)),
            "length": Column.count(np.minimum(repair - first, 4)[best]),
            "to repair": Column.count(repair[best] - at),
            "from start": Column.count(at - first[best]),
            "cut off": Column(("False", "True"), cut_off[best]),
            "filler": Column(("False", "True"), filler[best]),
        }
        return Table(at, columns, _GROUPS)


def _stem(text: str) -> str:
    return stem_and_clitic(text)[0]


def _beginning(text: str) -> str:
    return text[:4]


def _closed_class(text: str) -> str:
    """Return the class of a word without its clitic; a word of an open class is alone in its own."""
    name = word_class(text)
    return text if name.startswith(OPEN) else name.split("+")[0]


def features(utterances: Sequence[Sequence[SpokenWord]]) -> list[list[list[str]]]:
    """Return the features of each word of each utterance: of the words around it, and of its copies.

    Times and commas are used where they are there; a model is trained with and without them. Many utterances at once
    take a fraction of the time for each.

    >>> "copy 1: same" in features([[SpokenWord("the"), SpokenWord("the"), SpokenWord("dog")]])[0][0]
    True
    """
    table = WordColumns(utterances)
    lists = iter(names([*table.tables(), *Likenesses(table).tables()], len(table.all_words)))
    return [list(islice(lists, len(words))) for words in utterances]
