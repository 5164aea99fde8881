"""Character spans of disfluencies in a label, found by its symbols."""

from __future__ import annotations

import functools
import re

from lsa_whisper.chat.disfluencies import RETRACE_CODES
from lsa_whisper.chat.filled_pauses import UNMARKED_FILLERS
from lsa_whisper.labels.infer_marks import PLAIN_FILLERS
from lsa_whisper.labels.notation import chat_to_label
from lsa_whisper.labels.repeats import find_repeats
from lsa_whisper.labels.style import Labels

_PIECE = re.compile(r"[<>]|[^\s<>]+")
_END = re.compile(r"(?<=.)(?:\.\.\.\??|\?!|[.?!])$")
_SOUND = re.compile(r"&[-+~].|[~%][^\W\d_]|(?:[^\W\d_]+-)+$|(?:[^\W\d_]+~+)+$")
"""A filler, fragment or nonword as either version spells it, or the copies of a part-word repetition."""
_INSIDE = re.compile(r".*[↫≠^]|[^\W\d_]+:+[^\W\d_:]*$")
"""A word with a disfluency inside, which version 1 writes as one piece."""
_PREFIXES = ("=", ":")


def disfluent_spans(text: str, labels: Labels) -> list[tuple[int, int]]:
    """Return the character spans (start, end) of disfluent words and their symbols in ``text``.

    These are fillers, fragments, retraced words, retrace symbols, pauses, and the symbols of prolongations and blocks.
    The ``verbatim`` style has no symbols: only its fillers and fragments are recognized.

    >>> text = "um < I want > // I can : library library .. it."
    >>> [text[start:end] for start, end in disfluent_spans(text, Labels("chat"))]
    ['um', '<', 'I', 'want', '>', '//', ':', 'library', '..']
    >>> disfluent_spans("I want it.", Labels("fluent"))
    []
    """
    if labels.style == "fluent":
        return []
    pieces = list(_PIECE.finditer(text))
    flags = [_is_disfluent(piece.group(), labels) for piece in pieces]
    if labels.style == "chat":
        _mark_retrace([piece.group() for piece in pieces], flags, labels)
    if labels.style == "chat" and labels.version > 2:
        for begin, length in find_repeats([piece.group() for piece in pieces]):
            flags[begin : begin + length] = [True] * length
    return [piece.span() for piece, flag in zip(pieces, flags, strict=True) if flag]


def _is_disfluent(piece: str, labels: Labels) -> bool:
    word = _END.sub("", piece)
    if labels.style == "verbatim":
        return word.casefold() in PLAIN_FILLERS or (len(word) > 1 and word.endswith("-"))
    if piece in _retraces(labels.version) or piece in _pauses(labels.version):
        return True
    if labels.version > 1 and (piece in _PREFIXES or word.casefold() in UNMARKED_FILLERS):
        return True
    return bool(_SOUND.match(word) or _INSIDE.match(word))


def _mark_retrace(pieces: list[str], flags: list[bool], labels: Labels) -> None:
    """Flag the retraced words before each retrace: the group in brackets, or one word."""
    retraces = _retraces(labels.version)
    openings: list[int] = []
    begin = 0  # of the last word or closed group
    for at, piece in enumerate(pieces):
        if piece == "<":
            openings.append(at)
        elif piece == ">":
            begin = openings.pop() if openings else at
        elif piece in retraces:
            flags[begin:at] = [True] * (at - begin)
        else:
            begin = at


@functools.cache
def _retraces(version: int) -> frozenset[str]:
    return frozenset(chat_to_label(code, version) for code in RETRACE_CODES)


@functools.cache
def _pauses(version: int) -> frozenset[str]:
    return frozenset(chat_to_label(code, version) for code in ("(.)", "(..)", "(...)"))
