"""Features of each word for the tagger: the words around it, and where it or its group is repeated.

Two English words are alike as copies, as cut-off beginnings, and as members of one small class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from lsa_whisper.retraces.context import BREAKS, WORDS_AROUND, Texts, columns_of, names
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
    return _same_class(first, second)


def _same_class(first: str, second: str) -> str:
    one, other = word_class(first), word_class(second)
    if one.startswith(OPEN):
        return ""
    if one == other:
        return "same class"
    return "related class" if one.split("+")[0] == other.split("+")[0] else ""


ALWAYS = "always"
"""The feature of every word."""
MAX_MATCH_LENGTH = 8
"""How many words ahead a copy is looked for."""

_WINDOW = 6
_PARTIAL = {"same stem": 0.7, "same beginning": 0.7, "same class": 0.4}
_GAPS_MS = (30, 150, 400, 1000)

Likenesses = list[dict[int, str]]
"""For each word, those of the next ``MAX_MATCH_LENGTH`` words that are alike, and how."""


def features(
    words: Sequence[SpokenWord], like: Likenesses | None = None, columns: Texts | None = None
) -> list[list[str]]:
    """Return the features of each of an utterance's ``words``.

    Times and commas are used where they are there; a model is trained with and without them. ``like`` is what
    :func:`likenesses` returns, ``columns`` what :func:`~.context.columns_of` does, if they are known.

    >>> "copy 1: same" in features([SpokenWord("the"), SpokenWord("the"), SpokenWord("dog")])[0]
    True
    """
    like = likenesses(words) if like is None else like
    columns = columns_of(words) if columns is None else columns
    around, breaks = names(columns, WORDS_AROUND), names(columns, BREAKS)
    rare = zip(_signs(words), breaks, _repeats(words, like), strict=True)
    return [[ALWAYS, *one, *(name for part in more for name in part)] for one, more in zip(around, rare, strict=True)]


def rare_features(words: Sequence[SpokenWord], like: Likenesses) -> list[list[str]]:
    """Return the features of each of ``words`` that few words have: signs of a break, and copies."""
    signs, repeats = _signs(words), _repeats(words, like)
    return [[*one, *more] for one, more in zip(signs, repeats, strict=True)] if any(signs) else repeats


def _signs(words: Sequence[SpokenWord]) -> list[list[str]]:
    if any(word.cut_off or word.after_filler or word.after_comma for word in words):
        return [_breaks(words, at) for at in range(len(words))]
    return [[]] * len(words)


def _repeats(words: Sequence[SpokenWord], like: Likenesses) -> list[list[str]]:
    timed = any(word.span for word in words)
    earlier = _earlier_copies(like)
    return [
        [
            *(_times(words, at) if timed else ()),
            *(_copies(words, like, at) if like[at] else ("no copy",)),
            *((earlier[at],) if at in earlier else ()),
            *group,
        ]
        for at, group in enumerate(_best_groups(_groups(words, like), len(words)))
    ]


def likenesses(words: Sequence[SpokenWord]) -> Likenesses:
    """Return how alike each of ``words`` is to those after it."""
    said = [(word.text, word.cut_off, _shared(word.text)) for word in words]
    return [
        {
            to: alike
            for to, (later, later_cut_off, others) in enumerate(said[at + 1 : at + 1 + MAX_MATCH_LENGTH], at + 1)
            if (cut_off or later_cut_off or not shared.isdisjoint(others))
            and (alike := _likeness(text, later, cut_off, later_cut_off))
        }
        for at, (text, cut_off, shared) in enumerate(said)
    ]


@lru_cache(maxsize=50_000)
def _shared(text: str) -> frozenset[str]:
    """Return what whole words must share one of to be alike: a stem, a beginning, a class."""
    name, stem = word_class(text), stem_and_clitic(text)[0]
    return frozenset(
        (
            stem,
            f"{text[:4]}..." if len(text) >= 4 else stem,
            stem if name.startswith(OPEN) else f"{name.split('+')[0]} class",
        )
    )


def _breaks(words: Sequence[SpokenWord], at: int) -> list[str]:
    """Cut-off words, fillers and commas around the word."""
    made = []
    for step, near in enumerate(words[max(at - 2, 0) : at + 4], max(-2, -at)):
        if near.cut_off:
            made.append(f"cut off {step}")
        if near.after_filler and step >= -1:
            made.append(f"filler before {step}")
        if near.after_comma and step in (0, 1):
            made.append(f"comma before {step}")
    word = words[at]
    if word.cut_off:
        made.append(f"cut off, length {min(len(word.text), 5)}")
    return made


def _times(words: Sequence[SpokenWord], at: int) -> list[str]:
    """The silence before this word and the next two, and the word's length, in coarse steps."""
    made = []
    for step in (0, 1, 2):
        to = at + step
        if 0 < to < len(words):
            before, after = words[to - 1].span, words[to].span
            if before and after:
                gap = sum(after.start_ms - before.end_ms >= limit for limit in _GAPS_MS)
                made.append(f"gap {step}: {gap}")
    if span := words[at].span:
        made.append(f"length: {min(4, (span.end_ms - span.start_ms) // 150)}")
    return made


def _copies(words: Sequence[SpokenWord], like: Likenesses, at: int) -> list[str]:
    """Where the word is repeated, and whether its neighbours are too."""
    made: list[str] = []
    for to, found in like[at].items():
        distance = to - at
        after = "-" if distance == 1 else like[at + 1].get(to + 1, "")
        before = like[at - 1].get(to - 1, "") if at and distance > 1 else ""
        if not made:
            made += [f"first copy: {found}", f"first copy {distance}: {found}"]
        copy = f"copy {distance}: {found}"
        made += [copy, f"{copy}, next {after}", f"{copy}, last {before}", f"{copy}, both {before} {after}"]
        made += [f"{copy}, class {word_class(words[at].text)}"] * (found == "same")
        made += [f"copy after cut-off: {found}"] * (distance > 1 and words[to - 1].cut_off)
        made += [f"copy after filler: {found}"] * words[to].after_filler
    return made


def _earlier_copies(like: Likenesses) -> dict[int, str]:
    """The nearest word before each word that it is a copy of."""
    return {
        to: f"is copy {to - at}: {alike}"
        for at, alike_words in enumerate(like)
        for to, alike in alike_words.items()
        if to - at <= _WINDOW and alike in COPIES
    }


class _Group(NamedTuple):
    """Words ``start`` to before ``repair``; ``rank`` is how well those from ``repair`` on match them, and how many."""

    repair: int
    start: int
    rank: tuple[float, int]
    ends: str


def _groups(words: Sequence[SpokenWord], like: Likenesses) -> list[_Group]:
    """Return the groups of words whose first word is like the repair's, and those that end in a cut-off word."""
    pairs = {(to, at) for at, alike in enumerate(like) for to in alike if to - at <= _WINDOW}
    broken = (at for at in range(1, len(words)) if words[at - 1].cut_off)
    pairs.update((repair, start) for repair in broken for start in range(max(0, repair - _WINDOW), repair))
    found = []
    for repair, start in sorted(pairs):
        cut_off, filler, length = words[repair - 1].cut_off, words[repair].after_filler, repair - start
        ratio = _matched(like, start, repair, len(words)) / length + 0.2 * cut_off + 0.1 * filler
        found.append(_Group(repair, start, (ratio, length), f"{cut_off} {filler}"))
    return found


def _best_groups(groups: Sequence[_Group], count: int) -> list[list[str]]:
    """The group of words around each word that is best matched by the words after it."""
    best: list[_Group | None] = [None] * count
    for each in groups:
        for at in range(each.start, each.repair):
            known = best[at]
            if known is None or each.rank > known.rank:
                best[at] = each
    return [_described(each, at) if each else [] for at, each in enumerate(best)]


def _described(group: _Group, at: int) -> list[str]:
    ratio, length = group.rank
    name = f"window {int(ratio * 5)}"
    place = f"{name}, {group.repair - at} to repair, {at - group.start} from start"
    return [name, f"{name}, {min(length, 4)} words", place, f"{name}, {group.ends}"]


def _matched(like: Likenesses, start: int, repair: int, count: int) -> float:
    total = 0.0
    for step in range(min(repair - start, count - repair)):
        found = like[start + step].get(repair + step, "")
        total += 1 if found in COPIES else _PARTIAL.get(found, 0)
    return total
