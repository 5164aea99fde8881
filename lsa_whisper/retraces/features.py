"""Features of each word for the tagger: the words around it, and where it or its group is repeated.

Two English words are alike as copies, as cut-off beginnings, and as members of one small class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

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


MAX_MATCH_LENGTH = 8
"""How many words ahead a copy is looked for."""

_WINDOW = 6
_PARTIAL = {"same stem": 0.7, "same beginning": 0.7, "same class": 0.4}
_GAPS_MS = (30, 150, 400, 1000)

Likenesses = list[dict[int, str]]
"""For each word, how alike each of the next ``MAX_MATCH_LENGTH`` words is."""


def features(words: Sequence[SpokenWord], like: Likenesses | None = None) -> list[list[str]]:
    """Return the features of each of an utterance's ``words``.

    Times and commas are used where they are there; a model is trained with and without them. ``like`` is what
    :func:`likenesses` returns, if it is known.

    >>> "copy 1: same" in features([SpokenWord("the"), SpokenWord("the"), SpokenWord("dog")])[0]
    True
    """
    like = likenesses(words) if like is None else like
    return [
        [
            "always",
            *_context(words, at),
            *_breaks(words, at),
            *_times(words, at),
            *_copies(words, like, at),
            *_earlier_copy(like, at),
            *_best_window(words, like, at),
        ]
        for at in range(len(words))
    ]


def likenesses(words: Sequence[SpokenWord]) -> Likenesses:
    """Return how alike each of ``words`` is to those after it."""
    return [
        {to: likeness(word, words[to]) for to in range(at + 1, min(len(words), at + 1 + MAX_MATCH_LENGTH))}
        for at, word in enumerate(words)
    ]


def _context(words: Sequence[SpokenWord], at: int) -> list[str]:
    w = [_text(words, at + step) for step in (-1, 0, 1, 2)]
    c = [_class(words, at + step) for step in (-1, 0, 1, 2)]
    made = [f"word {step}: {text}" for step, text in zip((-1, 0, 1, 2), w, strict=True)]
    made += [f"words: {w[1]} {w[2]}", f"words before: {w[0]} {w[1]}"]
    made += [f"class {step}: {name}" for step, name in zip((-1, 0, 1), c, strict=False)]
    made += [f"classes: {c[1]} {c[2]}", f"classes before: {c[0]} {c[1]}", f"classes around: {c[0]} {c[1]} {c[2]}"]
    made += [f"classes ahead: {c[1]} {c[2]} {c[3]}"]
    return [*made, f"from start: {min(at, 4)}", f"to end: {min(len(words) - 1 - at, 4)}"]


def _text(words: Sequence[SpokenWord], at: int) -> str:
    return words[at].text if 0 <= at < len(words) else "<start>" if at < 0 else "<end>"


def _class(words: Sequence[SpokenWord], at: int) -> str:
    return word_class(words[at].text) if 0 <= at < len(words) else "<start>" if at < 0 else "<end>"


def _breaks(words: Sequence[SpokenWord], at: int) -> list[str]:
    """Cut-off words, fillers and commas around the word."""
    made = []
    for step in range(max(-2, -at), min(4, len(words) - at)):
        near = words[at + step]
        if near.cut_off:
            made.append(f"cut off {step}")
        if near.after_filler and step >= -1:
            made.append(f"filler before {step}")
        if near.after_comma and step in (0, 1):
            made.append(f"comma before {step}")
    word = words[at]
    if word.cut_off:
        made.append(f"cut off, length {min(len(word.text), 5)}")
    if at + 1 < len(words):
        after = words[at + 1]
        made.append(f"break: {word_class(word.text)} {word.cut_off} {after.after_filler} {word_class(after.text)}")
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
        if not found:
            continue
        distance = to - at
        after = "-" if distance == 1 else like[at + 1][to + 1] if to + 1 < len(words) else ""
        before = like[at - 1][to - 1] if at and distance > 1 else ""
        if not made:
            made += [f"first copy: {found}", f"first copy {distance}: {found}"]
        copy = f"copy {distance}: {found}"
        made += [copy, f"{copy}, next {after}", f"{copy}, last {before}", f"{copy}, both {before} {after}"]
        made += [f"{copy}, class {word_class(words[at].text)}"] * (found == "same")
        made += [f"copy after cut-off: {found}"] * (distance > 1 and words[to - 1].cut_off)
        made += [f"copy after filler: {found}"] * words[to].after_filler
    return made or ["no copy"]


def _earlier_copy(like: Likenesses, at: int) -> list[str]:
    for back in range(1, min(at, _WINDOW) + 1):
        if like[at - back][at] in COPIES:
            return [f"is copy {back}: {like[at - back][at]}"]
    return []


def _best_window(words: Sequence[SpokenWord], like: Likenesses, at: int) -> list[str]:
    """The group of words around this one that is best matched by the words after it."""
    best: tuple[tuple[float, int], list[str]] | None = None
    for repair in range(at + 1, min(len(words), at + 1 + _WINDOW)):
        cut_off, filler = words[repair - 1].cut_off, words[repair].after_filler
        for start in range(max(0, repair - _WINDOW), at + 1):
            if not like[start][repair] and not cut_off:
                continue
            length = repair - start
            ratio = _matched(like, start, repair, len(words)) / length + 0.2 * cut_off + 0.1 * filler
            if best is None or (ratio, length) > best[0]:
                name = f"window {int(ratio * 5)}"
                place = f"{name}, {repair - at} to repair, {at - start} from start"
                best = (ratio, length), [name, f"{name}, {min(length, 4)} words", place, f"{name}, {cut_off} {filler}"]
    return best[1] if best else []


def _matched(like: Likenesses, start: int, repair: int, count: int) -> float:
    total = 0.0
    for step in range(min(repair - start, count - repair)):
        found = like[start + step][repair + step]
        total += 1 if found in COPIES else _PARTIAL.get(found, 0)
    return total
