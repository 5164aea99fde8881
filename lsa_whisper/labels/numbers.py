"""Numbers, and the signs beside them in English, as words; CHAT allows no digits.

num2words knows the words of some fifty languages. The words of one number are joined until disfluencies are
marked: *zero zero* is not a repetition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from lsa_whisper.chat.codes import TONE_LANGUAGES
from lsa_whisper.languages import chat_code, whisper_code

AREA_CODE = r"\((?:0[0-9]{1,4}\)(?=\s?[0-9])|[0-9]{2,4}\)(?=\s?[0-9]{3,5}[-. ][0-9]{4}(?![0-9])))"
"""Digits in brackets before those of a telephone number; others are the length of a pause."""
NOT_NUMBERS = rf"(?P<keep>(?!{AREA_CODE})\(\d[\d:]*\.?\d*\)|\[x \d+\]|&=\S+|(?<![^\W\d_])[^\W\d_]++\d@s:[a-z]{{3}}\b)"
"""Digits that are not numbers: pauses, copies, events, and the tones of words of another language."""
ORDINAL_POINTS = frozenset(
    ["ces", "dan", "deu", "est", "fin", "hrv", "hun", "nno", "nob", "nor", "pol", "slk", "slv", "srp", "tur"]
)
"""Languages that write *first* as ``1.``, and dates as ``24.12.2020``."""
_MAX_DIGITS = 12
_YEARS = frozenset(["dan", "deu", "nld", "nno", "nob", "nor"])
"""Languages in which 1984 is *nineteen hundred eighty-four*, and num2words says so."""
_TURKISH_DIGITS = "bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz"
_TURKISH_TENS = "on|yirmi|otuz|kırk|elli|altmış|yetmiş|seksen|doksan"
_TURKISH = re.compile(
    rf"(?:{_TURKISH_TENS}|{_TURKISH_DIGITS}|yüz|bin|mil(?:yon|yar))"
    rf"(?=(?:{_TURKISH_DIGITS}|{_TURKISH_TENS}|yüz|bin|mily)(?!c))"
)
_CENTURY = re.compile(
    r"(?P<named>\b(?:siglo|segle|século|secolo|s|sec|séc) )(?P<before>X{2,3})\b"
    r"|\b(?P<behind>X{2,3})(?= (?:wiek|век|століт|столет|secolo|stolet|eeuw|Jahrhundert|yüzyıl))",
    re.IGNORECASE,
)
"""Roman numbers that CHAT reads as words that cannot be understood."""
_CARDINAL_CENTURIES = ("spa", "cat", "por")
_SEPARATORS = re.compile(r"[\s,.،-]+")


def can_spell_numbers(language: str) -> bool:
    """Return whether :func:`spell_number` knows ``language`` (ISO 639-3 or Whisper's code).

    Languages whose words carry digits as tone marks are excluded: the 3 of Cantonese *wo3* is not a number. CHECK
    allows digits in Welsh, too, but there they are numbers.

    >>> can_spell_numbers("eng"), can_spell_numbers("deu"), can_spell_numbers("yue"), can_spell_numbers("vec")
    (True, True, False, False)
    >>> can_spell_numbers("cym")
    True
    """
    return _can_spell(chat_code(language), whisper_code(language))


@cache
def _can_spell(language: str, code: str) -> bool:
    from num2words import CONVERTER_CLASSES

    return language not in TONE_LANGUAGES - {"cym"} and code in CONVERTER_CLASSES


def spell_number(
    digits: str,
    *,
    ordinal: bool = False,
    year: bool = False,
    language: str = "eng",
    inflection: Mapping[str, object] | None = None,
) -> str:
    """Return the words for ``digits``; long numbers and numbers with leading zeros are read digit by digit.

    Args:
        digits: Digits, with at most one decimal point.
        ordinal: Return the ordinal number.
        year: Return the number as years are said, in Germanic languages.
        language: ISO 639-3 or Whisper's code; one for which :func:`can_spell_numbers` is true.
        inflection: What num2words knows of a language besides, such as ``{"case": "g"}``.

    >>> spell_number("42"), spell_number("3.5"), spell_number("21", ordinal=True), spell_number("1905")
    ('forty two', 'three point five', 'twenty first', 'one thousand nine hundred five')
    >>> spell_number("007"), spell_number("6", ordinal=True), spell_number("21", language="deu")
    ('zero zero seven', 'sixth', 'einundzwanzig')
    """
    integer, _, decimals = digits.partition(".")
    english = chat_code(language) == "eng"
    by_digit = len(integer) > _MAX_DIGITS or (len(integer) > 1 and integer[0] == "0")
    parts = [*(integer if by_digit else (integer,)), *decimals]
    form = "ordinal" if ordinal else "year" if year and chat_code(language) in _YEARS else "cardinal"
    words = [
        _words(part, form if at == len(parts) - 1 else "cardinal", language, tuple((inflection or {}).items()))
        for at, part in enumerate(parts)
    ]
    if decimals and english:
        words.insert(-len(decimals), "point")
    return " ".join(words)


@lru_cache(maxsize=1 << 10)
def _words(integer: str, form: str, language: str, inflection: tuple[tuple[str, object], ...]) -> str:
    from num2words import num2words

    words = str(num2words(int(integer), to=form, lang=whisper_code(language), **dict(inflection)))
    if chat_code(language) == "eng":  # American usage: one hundred five
        words = words.replace(" and ", " ")
    if form == "year":
        words = re.sub(" (?=honderd|hundrede?)", "", words)
    if chat_code(language) == "tur":  # num2words joins what is written apart
        words = _TURKISH.sub(r"\g<0> ", words)
    return _SEPARATORS.sub(" ", words).strip()


def with_spelled_centuries(text: str, language: str) -> str:
    """Return ``text`` with the Roman numbers *XX* and *XXX* of centuries as words.

    >>> with_spelled_centuries("el siglo XX", "spa"), with_spelled_centuries("w XX wieku", "pol")
    ('el siglo veinte', 'w dwudziesty wieku')
    """
    if "XX" not in text or not can_spell_numbers(language):
        return text

    def spelled(match: re.Match[str]) -> str:
        number = str(10 * len(match["before"] or match["behind"]))
        ordinal = language not in _CARDINAL_CENTURIES
        return f"{match['named'] or ''}{spell_number(number, ordinal=ordinal, language=language)}"

    return _CENTURY.sub(spelled, text)


JOINER = "\u200d"
"""Stands before and between the words of a number; English has no other use for it."""
_ENDLESS = re.compile(r"\d{40,}")
"""More digits than any number has: they are read one by one, which takes patterns of numbers long to find out."""
_RUN = re.compile(rf"(?<!\S){JOINER}\S++(?:(?: ++{JOINER}\S++){{2,}}|(?: ++(?:bis|a|à) ++{JOINER}\S++)+)")
_RETRACED = re.compile(rf"(?<![^\s<]){JOINER}([^\s<>]+) \[/")
_REVISED = re.compile(rf"<([^<>]*{JOINER}[^<>]*)> \[/[/-]/?\]|(?<![^\s<])({JOINER}[^\s<>]+) \[/[/-]/?\]")


def read_by_digit(text: str, language: str, spellings: dict[str, str] | None) -> str:
    """Return ``text`` with rows of digits that no number has as the words of each digit."""

    def spoken(match: re.Match[str]) -> str:
        words = [spell_number(digit, language=language) for digit in match[0]]
        token = JOINER + JOINER.join(words)
        if spellings is not None:
            spellings[token] = match[0]
        return f" {' '.join(words) if spellings is None else token} "

    return _ENDLESS.sub(spoken, text) if can_spell_numbers(language) else text


def without_joiners(text: str) -> str:
    """Return a main tier in which the words of numbers are words again; a retrace of a number is in brackets.

    >>> without_joiners(f"call {JOINER}two{JOINER}two [/] {JOINER}two{JOINER}two .")
    'call <two two> [/] two two .'
    """
    if JOINER not in text:
        return text
    text = _RETRACED.sub(lambda match: f"<{match[1]}> [/" if JOINER in match[1] else f"{JOINER}{match[1]} [/", text)
    return text.replace(f"<{JOINER}", "<").replace(f" {JOINER}", " ").lstrip(JOINER).replace(JOINER, " ")


def with_joined_runs(text: str, spellings: dict[str, str]) -> str:
    """Return ``text`` with three or more numbers in a row as one, unless all are alike: codes; and ranges."""

    def joined(match: re.Match[str]) -> str:
        numbers = [number if number[0] == JOINER else JOINER + number for number in match[0].split()]
        if len(set(numbers)) == 1:
            return match[0]
        spellings["".join(numbers)] = " ".join(spellings.get(number, number[1:]) for number in numbers)
        return "".join(numbers)

    return _RUN.sub(joined, text) if JOINER in text else text


def without_revised_numbers(text: str) -> str:
    """Return ``text`` without the inferred revisions of numbers: *in the 1990s, the 80s* is a list.

    >>> without_revised_numbers(f"<the {JOINER}nineties> [//] the {JOINER}eighties")
    'the \u200dnineties the \u200deighties'
    """
    return _REVISED.sub(r"\1\2", text) if JOINER in text else text


def written_numbers(text: str, spellings: dict[str, str]) -> list[str]:
    """Return the original spelling of the numbers in a main tier, in order, from the tier with joined words."""
    tokens = (token for token in re.findall(rf"{JOINER}[^\s<>]+", text) if JOINER in token)
    return [spellings[token] for token in tokens if token in spellings]


_THIRD_PERSON = "s?he|his|him|hers?|himself|herself"
_DOMAIN = r"(?:com|org|net|edu|gov)\b"
_PLAIN_SIGNS = (
    (re.compile(r"\b[wW]/o(?:ut)?\b"), "without"),
    (re.compile(r"\b[wW]/(?=\s)"), "with"),
    (re.compile(r"\b[bB]/c\b"), "because"),
    (re.compile(r"\bhttps?://"), "http "),
    (re.compile(r"\bwww\.(?=\w)"), "www dot "),
    (re.compile(rf"(?<=\w)\.(?={_DOMAIN})"), " dot "),
    (re.compile(r"(?<=\b(?:com|org|net|edu|gov))/(?=\w)"), " slash "),
    (re.compile(r"(?<!\S)&\s(?=[\w$£€¥#'’])|(?<=\w)&(?=\w)"), " and "),
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
    (re.compile(r"(?:\b[Ss]ections? )?§§\s?(?=\d)"), "sections "),
    (re.compile(r"(?:\b[Ss]ections? )?§\s?(?=\d)"), "section "),
    (re.compile(rf"(?i)\b({_THIRD_PERSON})/(?={_THIRD_PERSON}\b)"), r"\1 or "),
)
"""What stands for them in text that has no signs of CHAT; numbers beside them are replaced later."""
_ANY_SIGN = re.compile(rf"[/&@+=#±–²³^√§-]|www\.|\.{_DOMAIN}")

SIGNS = {"+": "plus", "-": "minus", "−": "minus", "=": "equals", "x": "by", "×": "by", "÷": "divided by"}


def speak_signs(text: str) -> str:
    """Return plain ``text`` with its signs as words.

    >>> speak_signs("R&D at www.lsa.org")
    'R and D at www dot lsa dot org'
    """
    if _ANY_SIGN.search(text):
        for pattern, replacement in _PLAIN_SIGNS:
            text = pattern.sub(replacement, text)
    return text
