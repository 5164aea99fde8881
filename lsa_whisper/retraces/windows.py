"""Features of a word from the windows around it: words that may be taken back, beside those that would repair them.

A window is compared as a whole with what follows it, and words may be put in or left out: *they bought – they have
bought*. What parts the two counts, a cut-off word, a filler or a comma, and so does how well the repair fits what
stands before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lsa_whisper.retraces.context import KINDS_AROUND, Texts, columns_of, names, parted_by
from lsa_whisper.retraces.features import COPIES, Likenesses, features, likenesses
from lsa_whisper.retraces.word_kinds import CONTENT_KINDS, broad_kind, word_kind
from lsa_whisper.retraces.words import SpokenWord

_MAX_LENGTH = 6
_ALIKE = {"same stem": 0.6, "same beginning": 0.6, "related class": 0.6, "same class": 0.4}
_OTHER_LIKENESS, _SAME_KIND = 0.3, 0.2
_STEPS = 5
_RANKS = 2


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
    """The kinds of an utterance's words, and of what stands around them; the first word's is at ``_FIRST``."""

    def __init__(self, words: Sequence[SpokenWord]):
        kinds = [word_kind(word.text) for word in words]
        self.fine = ["<start>", "<start>", *kinds, "<end>", "<end>", "<end>"]
        self.broad = [broad_kind(kind) for kind in self.fine]


_FIRST = 2


def all_features(words: Sequence[SpokenWord]) -> list[list[str]]:
    """Return the features that the shipped tagger sees of each of an utterance's ``words``."""
    like, columns = likenesses(words), columns_of(words)
    pairs = zip(features(words, like, columns), window_features(words, like, columns), strict=True)
    return [one + more for one, more in pairs]


def window_features(
    words: Sequence[SpokenWord], like: Likenesses | None = None, columns: Texts | None = None
) -> list[list[str]]:
    """Return features of each of an utterance's ``words``, which those of :func:`~.features.features` lack.

    >>> they, *_ = window_features([SpokenWord(text) for text in "they bought they have bought".split()])
    >>> [name for name in they if name.endswith(" of 2")]
    ['window 0, 5, 2 of 2', 'window 0, subject to verb, 2 of 2']
    """
    around = names(columns_of(words) if columns is None else columns, KINDS_AROUND)
    repairs = repair_features(words, likenesses(words) if like is None else like)
    return [[*one, *more] for one, more in zip(around, repairs, strict=True)]


def repair_features(words: Sequence[SpokenWord], like: Likenesses) -> list[list[str]]:
    """Return the features of each of ``words`` of what it may be taken back with, and of what repairs it."""
    kinds = _Kinds(words)
    parted = [*(parted_by(words, at) if at else "" for at in range(len(words))), ""]
    best = _best(_windows(kinds.broad[_FIRST : _FIRST + len(words)], parted, like), len(words))
    return [
        [
            *(_first_copies(kinds, parted, like[at], at) if like[at] else ()),
            *(name for rank, each in enumerate(around) for name in _described(each, rank, kinds, at)),
            *(() if around else ("no window",)),
        ]
        for at, around in enumerate(best)
    ]


def _first_copies(kinds: _Kinds, parted: Sequence[str], like: Mapping[int, str], at: int) -> list[str]:
    """The next two words that are like this one, with what stands before them and what they would follow."""
    made: list[str] = []
    broad, before = kinds.broad, _FIRST - 1
    for to in [to for to in like if to - at <= _MAX_LENGTH][:2]:
        alike, distance = like[to], to - at
        made += [
            f"bridge {alike}: {broad[before + at]} {broad[_FIRST + to]}",
            f"bridge {min(distance, 4)} {alike}: {kinds.fine[_FIRST + at]}",
            f"break {alike} {min(distance, 3)}: {broad[before + to]} {parted[to]} {broad[_FIRST + to]}",
            f"parted {alike} {distance}: {parted[to]}",
        ]
        if distance > 1:
            left = " ".join(broad[_FIRST + at + 1 : _FIRST + min(to, at + 3)])
            made.append(f"left out {alike}: {left} > {broad[_FIRST + to + 1]}")
    return made


def _windows(broad: Sequence[str], parted: Sequence[str], like: Likenesses) -> Iterator[RepairWindow]:
    """Yield the windows whose first words are alike or of one kind, and those before a cut-off word's repair."""
    values = [_values(broad, like[at], at) for at in range(len(broad))]
    masks = [sum(1 << to for to in row) for row in values]  # which words count, as bits
    for repair in range(1, len(broad)):
        parts, kind = parted[repair], broad[repair]
        cut_off = "-" in parts
        for first in range(max(0, repair - _MAX_LENGTH), repair):
            if not cut_off and broad[first] != kind and repair not in like[first]:
                continue
            begins = like[first].get(repair, "kind" if broad[first] == kind else "")
            end = min(len(broad), 2 * repair - first + 2)
            after = (1 << end) - (1 << repair)
            rows = [values[at] for at in range(first, repair) if masks[at] & after]
            score, copies = _likeness_of(rows, repair, end)
            if score > 0 or cut_off:
                bonus = 0.3 * cut_off + 0.1 * ("~" in parts)
                yield RepairWindow((score + bonus) / (repair - first), first, repair, copies, begins, parts)


def _values(broad: Sequence[str], like: Mapping[int, str], at: int) -> dict[int, float]:
    """Return how much it counts that each word behind ``at`` may stand for it: 1 for a copy; only if it counts."""
    values = {to: 1.0 if alike in COPIES else _ALIKE.get(alike, _OTHER_LIKENESS) for to, alike in like.items()}
    if (kind := broad[at]) in CONTENT_KINDS:
        for to in range(at + 1, min(len(broad), at + 2 * _MAX_LENGTH + 2)):
            if broad[to] == kind:
                values.setdefault(to, _SAME_KIND)
    return values


def _likeness_of(values: Sequence[Mapping[int, float]], repair: int, end: int) -> tuple[float, int]:
    """Return how alike words and those from ``repair`` on are in the best alignment, and how many are copies.

    Args:
        values: How much each word counts for each of the words, where it counts.
        repair: The first word of the repair.
        end: The end of what is compared.
    """
    if len(values) < 2:
        best_value = max((value for row in values for to, value in row.items() if repair <= to < end), default=0.0)
        return best_value, int(best_value == 1)
    above = [(0.0, 0)] * (end - repair + 1)
    for row_values in values:
        row = [(0.0, 0)]
        for column, to in enumerate(range(repair, end)):
            best = max(above[column + 1], row[column])
            if value := row_values.get(to):
                score, copies = above[column]
                best = max(best, (score + value, copies + (value == 1)))
            row.append(best)
        above = row
    return above[-1]


def _best(windows: Iterable[RepairWindow], count: int) -> list[list[RepairWindow]]:
    """Return the two windows around each of ``count`` words that are most like their repair."""
    best: list[list[RepairWindow]] = [[] for _ in range(count)]
    for each in sorted(windows, key=lambda each: (-each.score, -each.length)):
        for found in best[each.first : each.repair]:
            if len(found) < _RANKS:
                found.append(each)
    return best


def _described(each: RepairWindow, rank: int, kinds: _Kinds, at: int) -> list[str]:
    """The window of this ``rank`` around the word."""
    score, first, repair, copies, begins, parted = each
    broad, length = kinds.broad, repair - first
    name = f"window {rank}, {min(_STEPS, int(score * _STEPS + 1e-9))}"
    made = [
        name,
        f"{name}, {length} words",
        f"{name}, {copies} of {length}",
        f"{name}, {begins} {parted}",
        f"{name}, {at - first} from first, {repair - at} to repair",
        f"{name}, break {broad[repair + 1]} {parted} {broad[repair + 2]}",
        f"{name}, bridge {broad[first + 1]} {broad[repair + 2]}",
        f"{name}, {kinds.fine[_FIRST + at]}",
        f"window {rank}, {broad[first + 2]} to {broad[repair + 1]}, {copies} of {length}",
    ]
    if at == first:
        made.append(f"{name}, first word {begins}, {length}")
    return made
