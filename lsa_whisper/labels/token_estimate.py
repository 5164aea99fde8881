"""Estimated token count of a label, without a tokenizer."""

from __future__ import annotations


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
