"""How long a label is for a decoder, when no tokenizer is at hand."""

from __future__ import annotations


def tokens_at_most(text: str) -> int:
    """Return a number of decoder tokens that ``text`` with its two timestamps hardly exceeds, without a tokenizer.

    >>> tokens_at_most("&-um I want [/] want it .") >= 12
    True
    """
    pieces = 0
    for word in text.split():
        letters = sum(char.isascii() and char.isalnum() for char in word)
        others = len(word.encode()) - letters
        pieces += -(-letters // 3) + others
    return pieces + 3
