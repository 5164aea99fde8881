"""Features of a word from the windows around it: words that may be taken back, beside those that would repair them.

A window is compared as a whole with what follows it, and words may be put in or left out: *they bought – they have
bought*. What parts the two counts, a cut-off word, a filler or a comma, and so does how well the repair fits what
stands before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lsa_whisper.retraces.features import COPIES, Likenesses, features, likenesses
from lsa_whisper.retraces.word_kinds import CONTENT_KINDS, broad_kind, word_kind
from lsa_whisper.retraces.words import SpokenWord

_MAX_LENGTH = 6
_ALIKE = {"same stem": 0.6, "same beginning": 0.6, "related class": 0.6, "same class": 0.4}
_OTHER_LIKENESS, _SAME_KIND = 0.3, 0.2
_STEPS = 5


class RepairWindow(NamedTuple):
    """Words ``first`` to before ``repair``, and the words from ``repair`` on that may take their place.

    ``score`` is how alike the two are for each word, 1 for a copy; ``copies`` how many words are copies; ``begins`` how
    alike their first words are, and ``parted`` what stands between the two.
    """

    score: float
    first: int
    repair: int
    copies: int
    begins: str
    parted: str

    @property
    def length(self) -> int:
        """The number of words that would be taken back."""
        return self.repair - self.first


class _Kinds:
    """The kinds of an utterance's words, and of what stands around them."""

    def __init__(self, words: Sequence[SpokenWord]):
        kinds = [word_kind(word.text) for word in words]
        self._fine = ["<start>", "<start>", *kinds, "<end>", "<end>", "<end>"]
        self._broad = [broad_kind(kind) for kind in self._fine]

    def fine(self, first: int, last: int | None = None) -> str:
        return " ".join(self._fine[first + 2 : (first if last is None else last) + 3])

    def broad(self, first: int, last: int | None = None) -> str:
        return " ".join(self._broad[first + 2 : (first if last is None else last) + 3])


def all_features(words: Sequence[SpokenWord]) -> list[list[str]]:
    """Return the features that the shipped tagger sees of each of an utterance's ``words``."""
    like = likenesses(words)
    return [[*one, *more] for one, more in zip(features(words, like), window_features(words, like), strict=True)]


def window_features(words: Sequence[SpokenWord], like: Likenesses | None = None) -> list[list[str]]:
    """Return features of each of an utterance's ``words``, which those of :func:`~.features.features` lack.

    >>> they, *_ = window_features([SpokenWord(text) for text in "they bought they have bought".split()])
    >>> [name for name in they if name.endswith(" of 2")]
    ['window 0, 5, 2 of 2', 'window 0, subject to verb, 2 of 2']
    """
    kinds, like = _Kinds(words), likenesses(words) if like is None else like
    covering: list[list[RepairWindow]] = [[] for _ in words]
    for window in _windows(words, kinds, like):
        for at in range(window.first, window.repair):
            covering[at].append(window)
    return [
        [*_around(words, kinds, at), *_first_copies(words, kinds, like, at), *_best(covering[at], kinds, at)]
        for at in range(len(words))
    ]


def parted_by(words: Sequence[SpokenWord], at: int) -> str:
    """Return what parts the word ``at`` from the one before: a cut-off word (-), a filler (~), a comma.

    >>> parted_by([SpokenWord("sto", cut_off=True), SpokenWord("story", after_filler=True)], 1)
    '-~'
    """
    word = words[at]
    return "-" * words[at - 1].cut_off + "~" * word.after_filler + "," * word.after_comma


def _around(words: Sequence[SpokenWord], kinds: _Kinds, at: int) -> list[str]:
    """The kinds of the word and its neighbours."""
    made = [f"kind {step}: {kinds.fine(at + step)}" for step in (-2, -1, 0, 1, 2)]
    for first, last in ((0, 1), (-1, 0), (1, 2), (-1, 1), (0, 2), (-2, 0)):
        made.append(f"kinds {first}: {kinds.fine(at + first, at + last)}")
    made += [f"broad {first}: {kinds.broad(at + first, at + first + 3)}" for first in (0, -1)]
    if at + 1 < len(words):
        made.append(f"kinds after: {kinds.fine(at)} {parted_by(words, at + 1)} {kinds.fine(at + 1)}")
    if at:
        made.append(f"kinds before: {kinds.fine(at - 1)} {parted_by(words, at)} {kinds.fine(at)}")
    return made


def _first_copies(words: Sequence[SpokenWord], kinds: _Kinds, like: Likenesses, at: int) -> list[str]:
    """The next two words that are like this one, with what stands before them and what they would follow."""
    made: list[str] = []
    for to in [to for to, alike in like[at].items() if alike and to - at <= _MAX_LENGTH][:2]:
        alike, distance, parted = like[at][to], to - at, parted_by(words, to)
        made += [
            f"bridge {alike}: {kinds.broad(at - 1)} {kinds.broad(to)}",
            f"bridge {min(distance, 4)} {alike}: {kinds.fine(at)}",
            f"break {alike} {min(distance, 3)}: {kinds.broad(to - 1)} {parted} {kinds.broad(to)}",
            f"parted {alike} {distance}: {parted}",
        ]
        if distance > 1:
            left = kinds.broad(at + 1, min(to - 1, at + 2))
            made.append(f"left out {alike}: {left} > {kinds.broad(to + 1)}")
    return made


def _windows(words: Sequence[SpokenWord], kinds: _Kinds, like: Likenesses) -> Iterator[RepairWindow]:
    """Yield the windows whose first words are alike or of one kind, and those before a cut-off word's repair."""
    for repair in range(1, len(words)):
        parted = parted_by(words, repair)
        bonus = 0.3 * ("-" in parted) + 0.1 * ("~" in parted)
        for first in range(max(0, repair - _MAX_LENGTH), repair):
            begins = like[first].get(repair, "") or ("kind" if kinds.broad(first) == kinds.broad(repair) else "")
            if not begins and "-" not in parted:
                continue
            score, copies = _likeness_of(first, repair, len(words), kinds, like)
            if score > 0 or "-" in parted:
                yield RepairWindow((score + bonus) / (repair - first), first, repair, copies, begins, parted)


def _likeness_of(first: int, repair: int, count: int, kinds: _Kinds, like: Likenesses) -> tuple[float, int]:
    """Return how alike the words before and after ``repair`` are, in the best alignment, and how many are copies."""
    length = repair - first
    after = range(repair, min(count, repair + length + 2))
    above = [(0.0, 0)] * (len(after) + 1)
    for at in range(first, repair):
        row = [(0.0, 0)]
        for column, to in enumerate(after):
            best = max(above[column + 1], row[column])
            if value := _value(at, to, kinds, like):
                score, copies = above[column]
                best = max(best, (score + value, copies + (value == 1)))
            row.append(best)
        above = row
    return above[-1]


def _value(at: int, to: int, kinds: _Kinds, like: Likenesses) -> float:
    """Return how much it counts that the word ``to`` may stand for the word ``at``: 1 for a copy, 0 for nothing."""
    if alike := like[at].get(to):
        return 1.0 if alike in COPIES else _ALIKE.get(alike, _OTHER_LIKENESS)
    kind = kinds.broad(at)
    return _SAME_KIND if kind in CONTENT_KINDS and kind == kinds.broad(to) else 0.0


def _best(around: Sequence[RepairWindow], kinds: _Kinds, at: int) -> list[str]:
    """The two windows around the word that are most like their repair."""
    made: list[str] = []
    best = sorted(around, key=lambda each: (-each.score, -each.length))[:2]
    for rank, each in enumerate(best):
        step = min(_STEPS, int(each.score * _STEPS + 1e-9))
        name = f"window {rank}, {step}"
        ends = f"{kinds.broad(each.first)} to {kinds.broad(each.repair - 1)}"
        made += [
            name,
            f"{name}, {each.length} words",
            f"{name}, {each.copies} of {each.length}",
            f"{name}, {each.begins} {each.parted}",
            f"{name}, {at - each.first} from first, {each.repair - at} to repair",
            f"{name}, break {kinds.broad(each.repair - 1)} {each.parted} {kinds.broad(each.repair)}",
            f"{name}, bridge {kinds.broad(each.first - 1)} {kinds.broad(each.repair)}",
            f"{name}, {kinds.fine(at)}",
            f"window {rank}, {ends}, {each.copies} of {each.length}",
        ]
        if at == each.first:
            made.append(f"{name}, first word {each.begins}, {each.length}")
    return made or ["no window"]
