"""Token ids that must not be suppressed in decoding, and an estimate of how many tokens a label has."""

from __future__ import annotations

from itertools import product
from typing import Any

from lsa_whisper.labels.canonical import LABEL_TERMINATORS
from lsa_whisper.labels.notation import LABEL_ENDINGS, LABEL_SYMBOLS
from lsa_whisper.labels.style import Labels

_RUNS = ("&-", "&+", "&~", "&=", "[/]", "[//]", "[///]", "[/-]", "<", ">", "↫", "≠", "^", ":", "_", "-", "'")
_PAUSES = ("(.)", "(..)", "(...)")
_OPENING = ("<", "&-", "&+", "&~", "&=", "≠", "↫")
_CLOSING = (":", "↫", ">")
_BEHIND = ("-", "'", "_", "~", "~~", "~~~")


def characters(labels: Labels) -> set[str]:
    """Return the strings, besides words, that a label can contain.

    Later versions of the notation may fall back to CHAT's own codes, so they include those of version 1.

    >>> sorted(characters(Labels("fluent")))
    ['!', "'", '-', '.', '?']
    """
    if labels.style == "chat":
        needed = {*_RUNS, *_PAUSES, *LABEL_TERMINATORS}
        needed |= {"".join(pair) for pair in product(_OPENING, _OPENING)}
        needed |= {"".join(pair) for pair in product(_CLOSING, _CLOSING)}
        if labels.version > 1:
            needed |= {*LABEL_SYMBOLS, *LABEL_ENDINGS, *_BEHIND}
            needed |= {"".join(pair) for pair in product(("", *_BEHIND[:3]), LABEL_ENDINGS)}
            needed |= {"".join(pair) for pair in product(LABEL_SYMBOLS, _OPENING)}
    else:
        needed = {".", "?", "!", "'", "-"}
    return needed | ({"*", ":"} if labels.roles else set())


def tokens_to_allow(tokenizer: Any, labels: Labels) -> set[int]:
    """Return the token ids that ``suppress_tokens`` must not contain, for any Whisper tokenizer.

    Whisper's byte-pair merges never join punctuation with letters, so every id in a label occurs in one of
    :func:`characters`, with or without a leading space.
    """
    allowed: set[int] = set()
    for run in characters(labels):
        for text in (run, f" {run}"):
            allowed.update(tokenizer.encode(text, add_special_tokens=False))
    return allowed


def tokens_at_most(text: str) -> int:
    """Return an estimate of the tokens of ``text`` with two timestamps; the true count is almost never higher.

    >>> tokens_at_most("&-um I want [/] want it .") >= 12
    True
    """
    pieces = 0
    for word in text.split():
        letters = sum(char.isascii() and char.isalnum() for char in word)
        others = len(word.encode()) - letters
        pieces += -(-letters // 3) + others
    return pieces + 3
