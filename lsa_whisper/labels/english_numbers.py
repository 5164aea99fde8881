"""English numbers, times and amounts as people say them.

Speech recognizers write *7:00*, *$5*, *50%*, *1999*, *555-1234*: CHAT has words only. Each is read in the way that is
usual in speech; where several are (*100* is *a hundred* or *one hundred*), in the one that the digits spell. The words
of one number are joined (:mod:`lsa_whisper.labels.numbers`), because *zero zero* is not a repetition.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lsa_whisper.labels.number_words import speak_arithmetic
from lsa_whisper.labels.numbers import JOINER, SIGNS, speak_signs, spell_number

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_BEFORE, _AFTER = r"(?<![\w.,:/])", r"(?![\w])"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_FULL = {month[:3]: month for month in _MONTHS.split("|")}
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion", "t": "trillion"}
_ARITHMETIC = {"+": "plus", "-": "minus", "x": "times", "/": "divided by", "=": "equals"}
_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent"), "¥": ("yen", "sen")}
_CURRENCY = "[$£€¥]"
_DEGREES = {"C": " Celsius", "F": " Fahrenheit", "": ""}
_PLURALS = {"penny": "pence", "yen": "yen", "foot": "feet", "inch": "inches", "hertz": "hertz"}
_SPELLED = (
    "(?i:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    "|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million)"
)
"""The last word of a number that a recognizer spelled out before a sign."""
_UNITS = {
    "km/h": "kilometer per hour", "kph": "kilometer per hour", "mph": "mile per hour", "km": "kilometer",
    "cm": "centimeter", "mm": "millimeter", "kg": "kilogram", "mg": "milligram", "ml": "milliliter", "lbs": "pound",
    "lb": "pound", "oz": "ounce", "ft": "foot", "hrs": "hour", "hr": "hour", "mins": "minute", "min": "minute",
    "secs": "second", "sec": "second", "m": "meter", "g": "gram",
    "tbsp": "tablespoon", "GB": "gigabyte", "MB": "megabyte", "kHz": "kilohertz", "Hz": "hertz",
}  # fmt: skip
_UNIT = "|".join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))
_PHONE = (
    r"(?:\+?1[-. ])?(?:(?:\(\d{3}\)[- ]?|\d{3}[-. ])?\d{3}[-.]\d{4}|\d{3} \d{3} \d{4})"
    r"|(?<![,.])(?:\+\d{1,3} \d|\(?0\d)\d{1,3}\)?(?: \d{2,8})+|\d{3}-\d{2}-\d{4}|\d{5}-\d{4}"
)
"""Also social security numbers and ZIP codes."""
_DIALLED = "|".join(rf"(?<=\b{word} )" for word in ("call", "dial", "ring", "phone", "zip", "code"))
_TILL = r"(?P<to>\.?\s?[-–]\s?(?=\d{1,2}(?::[0-5]\d|\s?[aApP]\.?\s?[mM]\b))|[-–](?=\d{1,2}(?![\w:/])))?"
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:['’]\d{3})+|(?: 000)+)(?!\d| \d)")
"""Thousands that no comma parts."""
_HOTLINES = "911|411"
"""Numbers that are said digit by digit wherever they stand."""


def speak_english(text: str, spellings: dict[str, str], *, plain: bool) -> tuple[str, int]:
    """Return ``text`` with its numbers as words, and how many were replaced.

    Other digits than numbers, such as those of pauses, must not be in it. ``spellings`` takes the original spelling of
    each number, by its joined words. With ``plain``, ``&``, ``@`` and dashes are signs of plain text, and not CHAT's.

    >>> spoken, count = speak_english("at 7:00 it cost $5, up 50%, in 1999", {}, plain=True)
    >>> " ".join(spoken.replace(JOINER, " ").split()), count
    ("at seven o'clock it cost five dollars , up fifty percent , in nineteen ninety nine", 4)
    """
    count = 0

    def rule_of(speak: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
        def spoken(match: re.Match[str]) -> str:
            nonlocal count
            words = speak(match)
            if not words:
                return match[0]
            count += 1
            token = JOINER + JOINER.join(words.split())
            spellings[token] = match[0].strip().rstrip(" -–")
            return f" {token} "

        return spoken

    text = _GROUPED.sub(lambda match: re.sub(r"\D", ",", match[0]), text)
    text = speak_signs(speak_arithmetic(text, _ARITHMETIC)) if plain else text
    characters = set(text)  # of which rules only take some away
    for signs, pattern, speak in _RULES:
        if not signs or not signs.isdisjoint(characters):
            text = pattern.sub(rule_of(speak), text)
    return text, count


def cardinal(digits: str) -> str:
    """Return the words of a whole or decimal number; long numbers and leading zeros are read digit by digit.

    >>> cardinal("1,250"), cardinal("3.05"), cardinal("007"), cardinal(".5")
    ('one thousand two hundred fifty', 'three point zero five', 'zero zero seven', 'point five')
    """
    digits = digits.replace(",", "")
    return spell_number(digits) if digits[0] != "." else f"point {_digits(digits[1:])}"


def year(digits: str) -> str:
    """Return a number of four digits as years are said.

    >>> [year(digits) for digits in ("1999", "1905", "1900", "2005", "2019")]
    ['nineteen ninety nine', 'nineteen oh five', 'nineteen hundred', 'two thousand five', 'twenty nineteen']
    """
    century, rest = digits[:2], digits[2:]
    if digits[1:3] == "00":
        return cardinal(digits)
    if rest == "00":
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest[0] == '0' else ''}{cardinal(rest.lstrip('0'))}"


def ordinal(digits: str) -> str:
    """Return the ordinal number: ``ordinal("21")`` is *twenty first*."""
    return spell_number(digits.replace(",", ""), ordinal=True)


def _number(digits: str) -> str:
    """Return the words of a number where nothing tells what it counts: 1999 is a year, 1,999 is not."""
    return year(digits) if re.fullmatch(r"1[1-9]\d\d|20[0-9]\d", digits) else cardinal(digits)


def _digits(text: str) -> str:
    return " ".join(cardinal(digit) for digit in text if digit.isdigit())


def _plural(word: str) -> str:
    first, *rest = word.split(" ", 1)
    last = _PLURALS.get(first) or (f"{first[:-1]}ies" if first.endswith("ty") else f"{first}s")
    return " ".join([last if not first.endswith("x") else f"{first}es", *rest])


def _counted(number: str, unit: str) -> str:
    return f"{cardinal(number)} {unit if number == '1' else _plural(unit)}"


def _money(match: re.Match[str]) -> str:
    amount, (unit, _) = _amount(match), _MONEY[match["sign"]]
    if match.groupdict().get("article") == match.groupdict().get("noun") == "":  # a $20 bill
        amount = amount.removesuffix("s")
    return amount.replace(unit, f"{match['land']} {unit}") if match["land"] else amount


def _amount(match: re.Match[str]) -> str:
    whole, sub = _MONEY[match["sign"]]
    amount, scale = match["amount"].replace(",", ""), match["scale"] or _SCALES.get((match["short"] or "").lower(), "")
    until = f" to {cardinal(match['until'])}" if match["until"] else ""
    if scale or until:
        return f"{cardinal(amount)}{until} {scale} {_plural(whole)}"
    pounds, _, cents = f"0{amount}".partition(".") if amount[0] == "." else amount.partition(".")
    if len(cents) != 2:
        return _counted(amount, whole)
    parts = [_counted(part, unit) for part, unit in ((pounds, whole), (str(int(cents)), sub)) if int(part)]
    return " and ".join(parts) or _counted("0", whole)


def _time(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), match["minute"] or "00"
    if match["second"]:
        return " ".join([cardinal(match["hour"]), *(map(_oh, (minute, match["second"])))])
    if hour > 24 or int(minute) > 59:
        return " ".join(map(cardinal, (match["hour"], minute)))
    half = f" {match['half'][0].lower()} m" if match["half"] else ""
    first, to = _until(match), " to" if match["to"] else ""
    if minute == "00":
        exact = "" if half or to or match["clock"] else " hundred" if hour > 12 else " o'clock"
        return f"{first}{cardinal(str(hour))}{exact}{half}{to}"
    return f"{first}{cardinal(str(hour))} {_oh(minute)}{half}{to}"


def _range(match: re.Match[str]) -> str:
    first, last = match["first"], match["last"]
    whole = first[:2] + last if len(first) == 4 and len(last) == 2 else last  # 1990-95
    rising = float(first.replace(",", "")) < float(whole.replace(",", ""))
    return f"{_number(first)}{' to' if rising else ''} {_number(last)}"


def _fraction(match: re.Match[str]) -> str:
    above, below = int(match["above"]), int(match["below"])
    whole = f"{cardinal(match['whole'])} and " if match["whole"] else ""
    if not (0 < above < below and (below <= 10 or below in (16, 32, 64, 100))) or (above, below) == (9, 11):
        return f"{whole}{_number(match['above'])} {_number(match['below'])}"
    part = {2: "half", 4: "quarter"}.get(below) or ordinal(str(below))
    one = "a" if whole else "one" if match["article"] is None else ""
    count = f"{one} {part}" if above == 1 else f"{cardinal(str(above))} {_plural(part)}"
    return whole + count


def _decade(match: re.Match[str]) -> str:
    *before, last = _number(match["digits"]).split()
    before = [] if before == ["one"] else before  # hundreds
    last = f"{last[:-1]}ies" if last.endswith("y") else f"{last}es" if last == "six" else f"{last}s"
    return " ".join([*before, last])


def _date(match: re.Match[str]) -> str:
    years = match["year"]
    return f"{cardinal(match['month'])} {cardinal(match['day'])} {year(years) if len(years) == 4 else _oh(years)}"


def _iso_date(match: re.Match[str]) -> str:
    return " ".join([year(match["year"]), *(cardinal(match[part].lstrip("0") or "0") for part in ("month", "day"))])


def _oh(two: str) -> str:
    return f"oh {cardinal(two[1])}" if two[0] == "0" != two[1] else cardinal(two)


def _sign(match: re.Match[str]) -> str:
    return SIGNS.get(match["sign"] or "", "")


def _until(match: re.Match[str]) -> str:
    return f"{cardinal(match['first'])} to " if match["first"] else ""


_RULES = tuple((frozenset(signs), re.compile(pattern), speak) for signs, pattern, speak in (
    ("$£€¥", rf"(?P<article>(?<=\b[aA] )|(?<=\b[aA]n ))?(?P<land>US|CA|AU)?(?P<sign>{_CURRENCY})\s?"
        rf"(?P<amount>{_NUMBER}|\.\d\d)(?:\s?[-–]\s?{_CURRENCY}?(?P<until>{_NUMBER}))?(?:\s?(?P<scale>thousand|million|"
        r"billion|trillion|hundred)\b|(?P<short>[kKmMbBtT]n?)\b)?(?P<noun>(?= [a-z]))?", _money),
    ("$£€", rf"(?P<amount>{_NUMBER})(?P<land>)(?P<until>)(?P<short>)\s?(?P<scale>thousand|million|billion)?\s?"
        r"(?P<sign>[$£€])(?!\d)", _money),
    ("¢", r"(?P<cents>\d+)\s?¢", lambda m: _counted(m["cents"], "cent")),
    ("%", rf"(?P<sign>(?<!\S)[-−+])?(?:(?P<first>{_NUMBER})\s?%?\s?[-–]\s?)?(?P<number>{_NUMBER})\s?%",
        lambda m: f"{_sign(m)} {_until(m)}{cardinal(m['number'])} percent"),
    ("%", rf"\b(?P<spelled>{_SPELLED}) %(?!\w)", lambda m: f"{m['spelled']} percent"),
    ("°º",
        rf"(?P<sign>(?<!\S)[-−+])?(?:(?P<first>{_NUMBER})\s?[-–]\s?)?(?P<number>{_NUMBER})\s?[°º]\s?(?P<scale>[CF]\b)?",
        lambda m: f"{_sign(m)} {_until(m)}{_counted(m['number'], 'degree')}{_DEGREES[m['scale'] or '']}"),
    (":", rf"{_BEFORE}(?P<first>)(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?!\d)"
        r"(?:\s?(?P<half>[aApP]\.?\s?[mM])\b(?:\.(?=,|\s+[a-z0-9]))?|(?=\s?(?P<clock>o'clock)))?" + _TILL, _time),
    ("", rf"{_BEFORE}(?:(?P<first>\d{{1,2}})\s?[-–]\s?)?(?P<hour>\d{{1,2}})(?:\.(?P<minute>[0-5]\d))?(?P<second>)"
        r"\s?(?P<half>[aApP]\.?\s?[mM])\b" + _TILL, _time),
    ("", rf"(?<![\w-])(?:{_PHONE})(?![\w-])", lambda m: _digits(m[0])),
    ("1", rf"{_BEFORE}(?:{_HOTLINES}){_AFTER}(?![,.]\d)", lambda m: _digits(m[0])),
    ("", rf"(?=\d)(?i:{_DIALLED})\d{{3,}}(?![\w,.-]\d)\b", lambda m: _digits(m[0])),
    ("/", r"(?<![\w/])(?P<month>1[0-2]|0?[1-9])/(?P<day>[0-3]?\d)/(?P<year>\d{4}|\d\d)(?![\w/])", _date),
    ("/.", r"(?<![\w/.])(?P<month>[0-3]?\d)(?P<mark>[/.])(?P<day>[0-3]?\d)(?P=mark)(?P<year>\d{4})(?![\w/])", _date),
    ("-", r"(?<![\w-])(?P<year>\d{4})-(?P<month>[01]\d)-(?P<day>[0-3]\d)(?![\w-])", _iso_date),
    ("/", r"(?<![\w/.])(?P<article>(?<=\b[aA] ))?(?:(?P<whole>\d+)[ -])?(?P<above>\d+)/(?P<below>\d+)(?:rds?|ths?)?"
        r"(?![\w/])", _fraction),
    ("½", r"(?:(?P<whole>\d+)\s?)?½", lambda m: f"{cardinal(m['whole'])} and a half" if m["whole"] else "half"),
    ("x×", rf"(?P<number>{_NUMBER})\s?[x×](?!\w|\s?[-+=\d]| (?:plu|equal)s)", lambda m: _counted(m['number'], 'time')),
    ("s", r"(?<![\w'’])(?<!\d[.,])['’]?(?P<digits>\d{1,4})['’]?s\b", _decade),
    ("'’", r"(?<![\w'’])['’](?P<year>\d\d)(?![\w'’])", lambda m: _oh(m["year"])),
    ("JFMASOND", rf"\b(?P<named>{_MONTHS}|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec) "
        r"(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)?(?![\w.:/-]|,\d{3})",
        lambda m: f"{_FULL[m['named'][:3]]} {ordinal(m['day'])}"),
    ("", r"(?P<number>\d+(?:,\d{3})*)(?:st|nd|rd|th)\b", lambda m: ordinal(m["number"])),
    ("-–", rf"{_BEFORE}(?<!\d-)(?P<first>{_NUMBER})\s?[-–]\s?(?P<last>{_NUMBER})(?![\w-])", _range),
    (":", rf"{_BEFORE}(?P<first>\d+):(?P<last>\d+)(?![\w:])",
        lambda m: f"{cardinal(m['first'])} to {cardinal(m['last'])}"),
    ("f", r"(?P<feet>\d+)\s?ft\.? (?P<number>\d+)\s?in\b",
        lambda m: f"{_counted(m['feet'], 'foot')} {_counted(m['number'], 'inch')}"),
    ("", rf"(?<![\w.,])(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT}){_AFTER}(?!['’])(?:\.(?=,|\s+[a-z0-9]))?",
        lambda m: _counted(m["number"], _UNITS[m["unit"]])),
    ("#N", r"(?P<sharp>#\s?|\bNo\.\s?)(?=\d)(?P<number>\d+)", lambda m: f"number {cardinal(m['number'])}"),
    ("+=x×÷", r"(?<=\d)\s?(?P<sign>[+=x×÷])\s?(?=\d)", lambda m: SIGNS[m["sign"]]),
    (".", r"\d+(?:\.\d+){2,}", lambda m: " point ".join(map(cardinal, m[0].split(".")))),
    ("", r"(?P<sign>(?<!\S)[-−+])?(?P<number>(?:\d+(?:,\d{3})*)?\.\d+|\d+(?:,\d{3})*)"
        r"(?P<letters>[^\W\d_]{0,3}(?![^\W\d_]))?",
        lambda m: f"{_sign(m)} {_number(m['number'].rstrip(','))} {m['letters'] or ''}"),
))  # fmt: skip
"""The signs of which a text needs one, if any; the pattern that it is searched for; and what it becomes."""
