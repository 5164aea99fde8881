"""Main tiers of plain words, as most are: their words are read without a syntax tree."""

from __future__ import annotations

import re

_NOT_UNTRANSCRIBED = r"(?![xywXYW]{2,3}\b)"
_WORD = rf"(?:[a-vzA-VZ][a-zA-Z]*+|{_NOT_UNTRANSCRIBED}[xywXYW][a-zA-Z]*+)(?:'[a-zA-Z]++)*"
_PLAIN = re.compile(rf"({_WORD}(?: {_WORD})*)(?: [.?!])?")
_NUMBER = "(?:\u200d[a-zA-Z]++)+"
"""A number whose words are joined, as labels have it."""
_ITEM = rf"(?:{_WORD}|&[-+]{_NOT_UNTRANSCRIBED}[a-zA-Z]++|{_NUMBER})"
_CODE = r" \[/{1,3}\](?= [^.?!+\[])"
"""A retrace is followed by words."""
_PART = rf"(?:{_ITEM}(?:{_CODE})?|<{_ITEM}(?: {_ITEM})+>{_CODE})"
_SIMPLE = re.compile(rf"{_PART}(?: {_PART})*(?: (?:\+(?:\.\.|//?))?[.?!])?")


def plain_words(tier: str) -> list[str]:
    """Return the words of a main tier that has nothing but words and a terminator; none of any other tier.

    >>> plain_words("I don't know ."), plain_words("&-um no ."), plain_words("xxx no .")
    (['I', "don't", 'know'], [], [])
    """
    match = _PLAIN.fullmatch(tier)
    return match[1].split(" ") if match else []


def is_simple(tier: str) -> bool:
    """Return whether a main tier has nothing but words, fillers, cut-off words, retraces and a terminator.

    >>> is_simple("&-um <I want> [/] I want it ."), is_simple("it ran [/] ."), is_simple("&=laughs no .")
    (True, False, False)
    """
    return _SIMPLE.fullmatch(tier) is not None


def count_simple(tier: str) -> tuple[int, int]:
    """Return the numbers of words and of marks in a tier that :func:`is_simple`.

    >>> count_simple("&-um <I want> [/] I want it .")
    (6, 2)
    """
    retraces = tier.count(" [")
    return tier.count(" ") + 1 - retraces - (tier[-1] in ".?!"), retraces + tier.count("&")
