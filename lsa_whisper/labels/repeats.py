"""Repetitions without a sign: what is said twice in a row was repeated, and a label need not say so again.

Who writes ``the / the`` has to foretell, after one *the*, that another will come; ``the the`` is written as it is
heard, by every speech recogniser. Where words alone would say something else, version 3 of the labels says it too:
``"`` in front of a word that is meant to come twice (``a big "big dog``), and ``/`` for whatever else is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsa_whisper.labels.infer import LONGEST_REPEAT, PLAIN_FILLERS, is_no_emphasis

_WORD = re.compile(r"[^\W\d_](?:[\w':^]*[^\W_:^])?")
_ENDED = re.compile(r"(.*?[^\W_:^'])(?:\.\.\.\??|\?!|[.?!])")
_PAUSES = ("..", "...", "....")


def unsigned(text: str) -> str:
    """Return ``text`` of version 2 without the signs of repetitions that :func:`signed` will find again.

    >>> unsigned("< I want > / I want / um want the big big dog.")
    'I want I want um want the big "big dog.'
    """
    pieces = text.split()
    wanted, made = list(pieces), _guarded(pieces)
    at = 0
    while at < len(made):
        if made[at] == "/" and _bare(_sign_all(shorter := _without(made, at))) == wanted:
            at -= len(made) - len(shorter) - 1
            made = shorter
        else:
            at += 1
    return " ".join(made)


def signed(text: str) -> str:
    """Return ``text`` of version 3 in version 2, with a sign behind everything that is said again.

    >>> signed('I want I want um want the big "big dog. very very good.')
    '< I want > / I want / um want the big "big dog. very very good.'
    """
    return " ".join(_sign_all(text.split()))


def repeated(pieces: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where words begin that are said again behind them, and how many; fillers and pauses may stand between.

    >>> list(repeated("the the dog I want um I want.".split()))
    [(0, 1), (3, 2)]
    """
    folded = [piece.casefold() for piece in pieces]
    at = 0
    while at < len(folded):
        length = _length_at(folded, at)
        if length:
            yield at, length
        at += max(1, length)


def _length_at(folded: Sequence[str], at: int) -> int:
    for length in range(min(LONGEST_REPEAT, (len(folded) - at) // 2), 0, -1):
        copy = list(folded[at : at + length])
        if not all(map(_is_word, copy)) or not is_no_emphasis(copy):
            continue
        again = _behind(folded, at + length)
        if copy == [*folded[again : again + length - 1], *map(_unended, folded[again + length - 1 : again + length])]:
            return length
    return 0


def _behind(folded: Sequence[str], at: int) -> int:
    """Return the place of the next word, behind fillers and pauses."""
    while at < len(folded) and (folded[at] in _PAUSES or folded[at] in PLAIN_FILLERS or folded[at].startswith("~")):
        at += 1
    return at


def _is_word(piece: str) -> bool:
    return _WORD.fullmatch(piece) is not None and piece not in PLAIN_FILLERS


def _unended(piece: str) -> str:
    ended = _ENDED.fullmatch(piece)
    return ended[1] if ended else piece


def _sign_all(pieces: Sequence[str]) -> list[str]:
    made: list[str] = []
    done = 0
    for at, length in repeated(pieces):
        copy = pieces[at : at + length]
        made += [*pieces[done:at], *(copy if length == 1 else ("<", *copy, ">")), "/"]
        done = at + length
    return [*made, *pieces[done:]]


def _guarded(pieces: Sequence[str]) -> list[str]:
    """Say of words that come twice without a sign that they are meant to."""
    made = list(pieces)
    while found := next(repeated(made), None):
        at = _behind([piece.casefold() for piece in made], sum(found))
        made[at] = '"' + made[at]
    return made


def _bare(pieces: Sequence[str]) -> list[str]:
    """Take the guards away again, but not from what would then be a filler."""
    return [piece[1:] if piece[:1] == '"' and not _is_filler(piece[1:]) else piece for piece in pieces]


def _is_filler(piece: str) -> bool:
    return _unended(piece).casefold() in PLAIN_FILLERS


def _without(pieces: Sequence[str], at: int) -> list[str]:
    """Return ``pieces`` without the sign at ``at`` and the brackets that belong to it."""
    drop = {at}
    if at and pieces[at - 1] == ">":
        depth = 0
        for back in range(at - 1, -1, -1):
            depth += (pieces[back] == ">") - (pieces[back] == "<")
            if not depth:
                drop |= {at - 1, back}
                break
    return [piece for place, piece in enumerate(pieces) if place not in drop]
