"""The words of one number, joined until disfluencies are marked: *zero zero* is not a repetition."""

from __future__ import annotations

import re

JOINER = "\u200d"
"""Stands before and between the words of a number; English has no other use for it."""
_RETRACED = re.compile(rf"{JOINER}([^\s<>]+) \[/")
_REVISED = re.compile(rf"<([^<>]*{JOINER}[^<>]*)> \[/[/-]/?\]|({JOINER}[^\s<>]+) \[/[/-]/?\]")


def without_joiners(text: str) -> str:
    """Return a main tier in which the words of numbers are words again; a retrace of a number is in brackets.

    >>> without_joiners(f"call {JOINER}two{JOINER}two [/] {JOINER}two{JOINER}two .")
    'call <two two> [/] two two .'
    """
    if JOINER not in text:
        return text
    text = _RETRACED.sub(lambda match: f"<{match[1]}> [/" if JOINER in match[1] else f"{JOINER}{match[1]} [/", text)
    return text.replace(f"<{JOINER}", "<").replace(f" {JOINER}", " ").lstrip(JOINER).replace(JOINER, " ")


def without_revised_numbers(text: str) -> str:
    """Return ``text`` without the inferred revisions of numbers: *in the 1990s, the 80s* is a list.

    >>> without_revised_numbers(f"<the {JOINER}nineties> [//] the {JOINER}eighties")
    'the \u200dnineties the \u200deighties'
    """
    return _REVISED.sub(r"\1\2", text) if JOINER in text else text


def written_numbers(text: str, written: dict[str, str]) -> list[str]:
    """Return the original spelling of the numbers in a main tier, in order, from the tier with joined words."""
    tokens = (token for token in re.findall(rf"{JOINER}[^\s<>]+", text) if JOINER in token)
    return [written[token] for token in tokens if token in written]
