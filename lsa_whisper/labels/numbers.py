"""Numbers as words: CHAT allows no digits."""

from __future__ import annotations

_NAMES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
_ONES, _TENS = _NAMES.split()[:20], _NAMES.split()[20:]
_SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def spell_number(digits: str, *, ordinal: bool = False) -> str:
    """Return the English words for ``digits``; a number too long to have a name is read digit by digit.

    >>> spell_number("42"), spell_number("3.5"), spell_number("21", ordinal=True), spell_number("1905")
    ('forty two', 'three point five', 'twenty first', 'one thousand nine hundred five')
    >>> spell_number("007"), spell_number("6", ordinal=True), spell_number("30", ordinal=True)
    ('zero zero seven', 'sixth', 'thirtieth')
    """
    whole, _, decimals = digits.partition(".")
    if len(whole) > 12 or (len(whole) > 1 and whole[0] == "0"):
        words = [_ONES[int(digit)] for digit in whole]
    else:
        words = _spell(int(whole))
    if decimals:
        words += ["point", *(_ONES[int(digit)] for digit in decimals)]
    if ordinal:
        words[-1] = _ordinal(words[-1])
    return " ".join(words)


def _spell(number: int) -> list[str]:
    if number < 20:
        return [_ONES[number]]
    if number < 100:
        tens, ones = divmod(number, 10)
        return [_TENS[tens - 2], *([_ONES[ones]] if ones else [])]
    scale, name = next(each for each in _SCALES if number >= each[0])
    high, low = divmod(number, scale)
    return [*_spell(high), name, *(_spell(low) if low else [])]


def _ordinal(word: str) -> str:
    if word in _ORDINALS:
        return _ORDINALS[word]
    return f"{word[:-1]}ieth" if word.endswith("y") else f"{word}th"
