"""Main tiers of plain words, as most are: their words are read without a syntax tree."""

from __future__ import annotations

import re

_WORD = r"(?![xywXYW]{2,3}\b)[a-zA-Z]+(?:'[a-zA-Z]+)*"
_PLAIN = re.compile(rf"({_WORD}(?: {_WORD})*)(?: [.?!])?")


def plain_words(tier: str) -> list[str]:
    """Return the words of a main tier that has nothing but words and a terminator; none of any other tier.

    >>> plain_words("I don't know ."), plain_words("&-um no ."), plain_words("xxx no .")
    (['I', "don't", 'know'], [], [])
    """
    match = _PLAIN.fullmatch(tier)
    return match[1].split(" ") if match else []
