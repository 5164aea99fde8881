"""Signs of plain English text as people say them: of addresses, between words, and of arithmetic."""

from __future__ import annotations

import re

_DOMAIN = r"(?:com|org|net|edu|gov)\b"
_PLAIN_SIGNS = (
    (re.compile(r"\bhttps?://"), "http "),
    (re.compile(r"\bwww\.(?=\w)"), "www dot "),
    (re.compile(rf"(?<=\w)\.(?={_DOMAIN})"), " dot "),
    (re.compile(r"(?<=\b(?:com|org|net|edu|gov))/(?=\w)"), " slash "),
    (re.compile(r"(?<=[\w%¢.]) & (?=[\w$£€¥#])|(?<=\w)&(?=\w)"), " and "),
    (re.compile(r"(?<=\w) @ (?=\w)|(?<=\w)@(?=\w)|(?<!\S)@(?=\w)"), " at "),
    (re.compile(r"(?<=[^\W\d_])\+(?=[^\W\d_])"), " plus "),
    (re.compile(r"(?<=\d)\+(?!\s?[\d=])"), " plus"),
    (re.compile(r"\b([A-Za-z])\+\+"), r"\1 plus-plus"),
    (re.compile(r"\b([A-G])#"), r"\1 sharp"),
    (re.compile(r"(?<=[^\W\d_]) [+] (?=\w)|(?<=[²³]) [+] (?=\w)"), " plus "),
    (re.compile(r"(?<=[^\W\d_]) = (?=\w)|(?<=[²³]) = (?=\w)"), " equals "),
    (re.compile(r"±\s?(?=\d)"), "plus or minus "),
    (re.compile(r"(?<=\d)/(?=[^\W\d_]{2,})"), " per "),
    (re.compile(r"(?<=\d(?:st|nd|rd|th))\s?[-–]\s?(?=\d+(?:st|nd|rd|th)\b)"), " to "),
    (re.compile(r"(?<=\w)²"), " squared"),
    (re.compile(r"(?<=\w)³"), " cubed"),
    (re.compile(r"(?<=\d)\^(?=\d)"), " to the "),
    (re.compile(r"√\s?(?=\d)"), "square root of "),
)
"""What stands for them in text that has no signs of CHAT; numbers beside them are replaced later."""
_ANY_SIGN = re.compile(rf"[/&@+=#±–²³^√-]|www\.|\.{_DOMAIN}")

SIGNS = {"+": "plus", "-": "minus", "−": "minus", "=": "equals", "x": "by", "×": "by", "÷": "divided by"}
_IN_ARITHMETIC = {"x": "times", "×": "times", "*": "times", "/": "divided by"}
ARITHMETIC = r"(?<![\w.,/])\d+(?:\s?[-−+×÷x*/]\s?\d+)+\s?=\s?\d+(?![\w/]|[.,]\d)"
"""Arithmetic, where ``-`` is *minus* and ``/`` *divided by*."""


def speak_signs(text: str) -> str:
    """Return plain ``text`` with its signs as words.

    >>> speak_signs("R&D at www.lsa.org")
    'R and D at www dot lsa dot org'
    """
    if _ANY_SIGN.search(text):
        for pattern, replacement in _PLAIN_SIGNS:
            text = pattern.sub(replacement, text)
    return text


def speak_arithmetic(text: str) -> list[str]:
    """Return the numbers and signs of arithmetic, signs as words.

    >>> speak_arithmetic("5-3=2")
    ['5', 'minus', '3', 'equals', '2']
    """
    return [_IN_ARITHMETIC.get(part, SIGNS.get(part, part)) for part in re.findall(r"\d+|\S", text)]
