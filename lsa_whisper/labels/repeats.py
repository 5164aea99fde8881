"""Repetitions without a symbol: version 4 of the notation leaves exact repeats unmarked.

To write ``the / the``, a model must predict after the first *the* that another will follow; ``the the`` is what every
speech recognizer writes. Exceptions stay explicit: ``"`` before a word that is repeated on purpose
(``a big "big dog``), and ``/`` for all other repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsa_whisper.labels.infer_marks import MAX_REPEAT_LENGTH, PLAIN_FILLERS, is_disfluent_repeat, repeats_from

_WORD = re.compile(r"[^\W\d_](?:[\w':^]*[^\W_:^])?")
_ENDED = re.compile(r"(.*?[^\W_:^'])(?:\.\.\.\??|\?!|[.?!])")
_PAUSES = ("..", "...", "....")


def drop_repetition_marks(text: str) -> str:
    """Return version 2 ``text`` without the repetition marks that :func:`restore_repetition_marks` can restore.

    >>> drop_repetition_marks("< I want > / I want / um want the big big dog.")
    'I want I want um want the big "big dog.'
    """
    pieces = text.split()
    original, draft = list(pieces), _quoted(pieces)
    at = 0
    while at < len(draft):
        if draft[at] == "/" and _unquoted(_mark_all(shorter := _without(draft, at))) == original:
            at -= len(draft) - len(shorter) - 1
            draft = shorter
        else:
            at += 1
    return " ".join(draft)


def restore_repetition_marks(text: str) -> str:
    """Return version 4 ``text`` with a symbol after each exact repeat.

    >>> restore_repetition_marks('I want I want um want the big "big dog. very very good.')
    '< I want > / I want / um want the big "big dog. very very good.'
    """
    return " ".join(_mark_all(text.split()))


def find_repeats(pieces: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Return the start and length of word sequences that are repeated; fillers and pauses may intervene.

    >>> list(find_repeats("the the dog I want um I want.".split()))
    [(0, 1), (3, 2)]
    """
    return repeats_from(pieces, _length_at)


def _length_at(lowered: Sequence[str], at: int) -> int:
    for length in range(min(MAX_REPEAT_LENGTH, (len(lowered) - at) // 2), 0, -1):
        copy = list(lowered[at : at + length])
        if not all(map(_is_word, copy)) or not is_disfluent_repeat(copy):
            continue
        again = _next_word(lowered, at + length)
        if copy == [
            *lowered[again : again + length - 1],
            *map(_without_terminator, lowered[again + length - 1 : again + length]),
        ]:
            return length
    return 0


def _next_word(lowered: Sequence[str], at: int) -> int:
    """Return the index of the next word after fillers and pauses."""
    while at < len(lowered) and (lowered[at] in _PAUSES or lowered[at] in PLAIN_FILLERS or lowered[at].startswith("~")):
        at += 1
    return at


def _is_word(piece: str) -> bool:
    return _WORD.fullmatch(piece) is not None and piece not in PLAIN_FILLERS


def _without_terminator(piece: str) -> str:
    match = _ENDED.fullmatch(piece)
    return match[1] if match else piece


def _mark_all(pieces: Sequence[str]) -> list[str]:
    result: list[str] = []
    position = 0
    for at, length in find_repeats(pieces):
        copy = pieces[at : at + length]
        result += [*pieces[position:at], *(copy if length == 1 else ("<", *copy, ">")), "/"]
        position = at + length
    return [*result, *pieces[position:]]


def _quoted(pieces: Sequence[str]) -> list[str]:
    """Quote words that are repeated without being a disfluency."""
    result = list(pieces)
    while repeat := next(find_repeats(result), None):
        at = _next_word([piece.casefold() for piece in result], sum(repeat))
        result[at] = '"' + result[at]
    return result


def _unquoted(pieces: Sequence[str]) -> list[str]:
    """Remove the quotes, except where the word would become a filler."""
    bare = ((piece, piece.removeprefix('"')) for piece in pieces)
    return [piece if _without_terminator(word).casefold() in PLAIN_FILLERS else word for piece, word in bare]


def _without(pieces: Sequence[str], at: int) -> list[str]:
    """Return ``pieces`` without the symbol at ``at`` and its brackets."""
    drop = {at}
    if at and pieces[at - 1] == ">":
        depth = 0
        for back in range(at - 1, -1, -1):
            depth += (pieces[back] == ">") - (pieces[back] == "<")
            if not depth:
                drop |= {at - 1, back}
                break
    return [piece for place, piece in enumerate(pieces) if place not in drop]
