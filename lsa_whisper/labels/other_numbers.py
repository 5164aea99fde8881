"""Numbers, times, percentages and amounts of languages other than English, as words.

num2words knows the numbers; the words around them stand in :mod:`lsa_whisper.labels.number_words`. The words of one
number are joined as those of English are (:mod:`lsa_whisper.labels.numbers`), so that the original spelling can be told
and none is a repetition.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lsa_whisper.labels.number_words import HOURS, POINTS, NumberWords, before_unit, counted_noun, number_words
from lsa_whisper.labels.numbers import JOINER, NOT_NUMBERS, ORDINAL_POINTS, can_spell_numbers, spell_number

_CURRENCIES = ("€", "$", "£", "R$")
_SIGNS = str.maketrans({"٪": "%", "％": "%", "℃": "°C", "℉": "°F", "＄": "$", "￥": "¥", "￡": "£"})
"""The signs of other scripts that mean the same."""
_ARABIC_SEPARATOR = re.compile(r"(?<=\d)([٫٬])(?=\d)")
_CLOCK_POINT = re.compile(
    r"\b(?P<at>(?i:kl|klo|kello|godz|ore|alle|sono le|saat|las|às|в|o)\.? )?(?P<hour>[012]?\d)\.(?P<minute>[0-5]\d)"
    r"(?(at)(?!\d|[.,]\d)|(?=\s?(?:Uhr|uur)\b))"
)
""":data:`_ANY` reads a colon as that of a time of day."""
_NUMBER = r"(?:\d{1,3}(?:[., '’\u202f\u00a0]\d{3})+(?!\d)|\d+)"


def _amount(name: str) -> str:
    """Return the pattern of a number with or without a decimal part, as groups ``name`` and ``name_part``."""
    return rf"(?P<{name}>{_NUMBER})(?:[.,](?P<{name}_part>\d{{1,2}}))?(?!\d|[.,]\d)"


_PHONE = (
    r"(?<![A-Za-z\d.,])(?!\d{1,2}(?P<of_date>[/-])\d{1,2}(?P=of_date)\d)(?:"
    r"(?:\+\d{1,3}[ .-]?(?:\(0\))?\(?\d{1,4}\)?|\(?0\d{1,4}\)?|\(\d{2,4}\)(?=\s?\d{3,5}-))"
    r"(?:\s?[ /-]\s?\d{2,9}|(?<=\))\d{3,9})+"
    r"|(?<=\bdie )11[02](?=[.,!?]|\Z| an\b| (?:an)?(?:ge)?(?:ruf|wähl))"
    r"|\d{5}-\d{4}|\d\d(?:\.\d\d){3,}|[5-9]\d\d(?! \d{3} 000)(?: \d{3}){2}(?! ?[\d€$])"
    r"|(?!\d{1,3}(?: \d{3})+(?! ?\d)|\d{4} \d{4})(?=(?:\d ?){9,13}(?! ?\d))\d{1,4}(?: \d{2,8})+"
    r")(?![A-Za-z\d-])"
)
"""What begins with ``+``, zero or an area code in brackets, or has groups of digits that no number has."""
_ALONE = re.compile(r"(?<=[^\W\d_][ '])(?:R?\$|[€£₽₴₺₪₹₩])(?!\w)")
"""The sign of money behind a word: *5 millions €*."""
_NO_CENTS = re.compile(r"(?<=\d)[,.]-{1,2}(?!\S)")
_MILLIONS = re.compile(r"\bmil(?!le\b)[lhi]\w+\Z")
_OF = {"spa": " de", "por": " de", "ita": " di", "fra": " de"}
_MINUS = re.compile(r"(?<!\S)[-−](?=\d)")


_ANY = re.compile(
    rf"{NOT_NUMBERS}|(?P<phone>{_PHONE})"
    r"|(?<![\w.,:])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?![\d:])(?P<clock>\s*(?:Uhr|uur|heures)\b)?(?:\s?h\b)?"
    r"|(?<![\w.,:])(?P<bell>\d{1,2})\s?h(?:\s?(?P<past>[0-5]\d))?(?![^\W_])"
    rf"|(?P<before>R?\$|[€£¥₽₴₺₪₹₩])\s?{_amount('paid')}"
    rf"|{_amount('price')}\s?(?P<behind>R?\$|[€£¥₽₴₺₪₹₩])"
    rf"|%\s?{_amount('rate')}|{_amount('share')}\s?%"
    rf"|{_amount('warm')}\s?°\s?(?P<scale>[CF]\b)?"
    r"|(?:№|(?<!\S)#(?=\d)|\b[Nn](?:\.?[°º]|r)\.?)\s?(?P<sharp>\d+)"
    r"|(?:(?P<ones>\d+)\s?)?(?P<half>½|(?<![\w/.,])1/2(?![\w/]|[.,]\d))"
    r"|(?<![\w.,-])(?P<decade>\d{1,4})(?=er(?:n|s)?\b)(?P<tens>ern?|ers)"
    r"|(?<![\w.,])(?P<place>\d{1,4})-(?P<case>го|му|ая|ый|ий|ой|ое|ые|ых|ыми|й|я|ю|е|м|х)(?!\w)"
    r"|(?<![\w-])(?P<run>\d+(?:(?: [-–:/] |[-–:/])\d+)+)(?![\w-]|\s?[%€$£°])"
    r"|(?P<dated>(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})?)(?!\d)"
    r"|(?P<nth>\d{1,3})(?P<suffix>[.]?er[oa]?|[èe]re|re|[èe]me|e|[.]?[ºª]|[rdtvm][oa]|s?de|ste|af|il|ydd|f?ed|eg|nde?)(?![^\W_])"
    r"|(?P<ordinal>\d{1,3})\.(?=\s+\w)"
    r"|(?<![\d.,])(?P<whole>\d+)(?P<sign>[.,])(?P<part>\d{1,2})(?![.,]?\d)"
    rf"|(?P<number>{_NUMBER})"
)
_AND = re.compile(r"(?<!\S)&\s(?=[\w€$£'’])|(?<=[^\W\d_])&(?=[^\W\d_])")
_CHINESE = ("zho", "cmn", "yue")
_CHINESE_SIGNS = (
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
    (re.compile(r"(\d+(?:\.\d+)?)\s?%"), r"百分之\1"),
    *(
        (re.compile(rf"[{sign}]\s?(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s?[{sign}](?!\s?\d)"), rf"\1\2{word}")
        for sign, word in (("¥", "元"), ("$", "美元"), ("€", "欧元"), ("£", "英镑"))
    ),
    (re.compile(r"(?<=\d)\s?°\s?C?"), "度"),
    (re.compile(r"(?<!\d)(\d{1,2}):([0-5]\d)(?![\d:])"), r"\1点\2分"),
    (re.compile(r"(?<=\d)\.(?=\d)"), "点"),
)
_ROMANCE = ("cat", "ita", "por", "spa")
_IS_RANK = re.compile(r"(?:10|[1-9])° [^\W\d_]")
"""*1° maggio*: the sign of a degree is easier to type than that of an ordinal number."""
_RUSSIAN_CASES: dict[str, dict[str, object]] = {
    "й": {}, "ый": {}, "ий": {}, "ой": {"case": "g", "gender": "f"}, "го": {"case": "g"}, "му": {"case": "d"},
    "м": {"case": "p"}, "я": {"gender": "f"}, "ая": {"gender": "f"}, "ю": {"case": "a", "gender": "f"},
    "ое": {"gender": "n"}, "ые": {"plural": True}, "х": {"case": "g", "plural": True},
    "ых": {"case": "g", "plural": True}, "ми": {"case": "i", "plural": True}, "ыми": {"case": "i", "plural": True},
}  # fmt: skip
"""What the ending of *5-го* says, as num2words has it."""
_CASE_ENDING = re.compile(r"['’]([^\W\d_]+)")
_INFLECTING = re.compile(
    r"(?i)\b(?:[ai]m|vom|zu[mr]|beim|de[mns]|bis|ab|seit|nach|\w+em|(?:aus|in|mit|von) der)(?: \d+\. [uo]\w+)?\s*\Z"
)
"""What stands before a German ordinal number that ends in *-n*."""
_HAS_ZWJ = frozenset(["ara", "fas", "urd", "hin", "mar", "nep", "ben", "guj", "pan", "tam", "tel", "kan", "mal", "sin"])
"""Languages whose spelling has :data:`JOINER`: there the words of a number are not joined."""


def speak_other(text: str, language: str, spellings: dict[str, str] | None, *, plain: bool) -> tuple[str, int]:
    """Return ``text`` with its numbers as words, and how many were replaced.

    Numbers of a language (ISO 639-3) that num2words does not know stay digits. ``spellings`` and ``plain`` are as for
    English.

    >>> speak_other("um 7:05, 3,5 % für 5 €", "deu", None, plain=True)[0].split()
    ['um', 'sieben', 'Uhr', 'fünf', ',', 'drei', 'Komma', 'fünf', 'Prozent', 'für', 'fünf', 'Euro']
    >>> speak_other("am 3. Mai", "deu", None, plain=True), speak_other("20 %", "zho", None, plain=True)
    (('am  dritten  Mai', 1), ('百分之20', 1))
    """
    words = number_words(language)
    text = text.translate(_SIGNS)
    if plain:
        text = _AND.sub(f" {words.conjunction} ", text)
    if language in _CHINESE:
        return _speak_chinese(text)
    text = _ARABIC_SEPARATOR.sub(lambda match: "." if match[1] == "٫" else "", text)
    text = _CLOCK_POINT.sub(lambda match: f"{match['at'] or ''}{match['hour']}:{match['minute']}", text)
    if words.minus:
        text = _MINUS.sub(f" {words.minus} ", text)
    text = _NO_CENTS.sub("", text)
    spells = can_spell_numbers(language)
    pieces, count, position = [], 0, 0
    for match in _ANY.finditer(text):
        if match["keep"]:
            continue
        pieces.append(text[position : match.start()])
        position = match.end()
        if match["ordinal"] and not plain:
            pieces.append(f" {_number(match['ordinal'], language)} .")
            continue
        parts = _words_of(match, words, language).split()
        ending = _CASE_ENDING.match(text, position) if language == "tur" else None
        if ending:
            position = ending.end()
            parts[-1] += ending[1]
        if " ".join(parts) == match[0]:  # digits that stay, as in Greek 20ό
            pieces.append(match[0])
            continue
        count += spells
        if spellings is None or language in _HAS_ZWJ or not spells:
            pieces.append(f" {' '.join(parts)} ")
            continue
        token = JOINER + JOINER.join(parts)
        spellings[token] = text[match.start() : position].strip()
        pieces.append(f" {token} ")
    text = "".join([*pieces, text[position:]])
    return _ALONE.sub(lambda sign: max(_units(sign[0], words)[:2], key=len), text), count


def _speak_chinese(text: str) -> tuple[str, int]:
    count = 0
    for pattern, replacement in _CHINESE_SIGNS:
        text, hits = pattern.subn(replacement, text)
        count += hits
    return text, count


def _number(digits: str, language: str) -> str:
    """Return the words of a whole number, or its digits alone in a language whose numbers are not known."""
    digits = re.sub(r"\D", "", digits)
    return spell_number(digits, language=language) if digits and can_spell_numbers(language) else digits


def _words_of(match: re.Match[str], words: NumberWords, language: str) -> str:
    def number(digits: str) -> str:
        return _number(digits, language)

    if match["phone"]:
        groups = re.findall(r"\d+", match["phone"])
        return " ".join(" ".join(map(number, group)) if len(group) > 2 else number(group) for group in groups)
    if match["hour"]:
        minute = int(match["minute"])
        clock = words.clock or (match["clock"] or "")
        return f"{_hours(match['hour'], clock, number, language)} {number(str(minute)) if minute else ''}"
    if match["bell"]:
        unit = HOURS.get(language) or (words.clock if match["past"] else "") or "h"
        hours = _hours(match["bell"], unit, number, language)
        return f"{hours} {number((match['past'] or '').lstrip('0'))}"
    if match["paid"] or match["price"]:
        return _money(match, words, number, language)
    if match["share"] or match["rate"]:
        share = _decimal(match, "share" if match["share"] else "rate", words, number)
        return words.percent.format(share) if "{}" in words.percent else f"{share} {words.percent}"
    if match["warm"]:
        below = match.string[: match.start()].endswith(f"{words.minus} ")
        if language in _ROMANCE and not below and _IS_RANK.match(match.string, match.start()):
            return _ordinal(match["warm"], match, language)
        return _degrees(match, words, number, language)
    if match["sharp"]:
        return f"{words.number} {number(match['sharp'])}"
    if match["half"]:
        return f"{number(match['ones'])} {words.conjunction} {words.half}" if match["ones"] else words.half
    if match["run"]:
        parts = re.findall(r"\d+", match["run"])  # three are a date
        return " ".join(_year(part.lstrip("0") or "0" if len(parts) == 3 else part, language) for part in parts)
    if match["dated"]:
        if language not in ORDINAL_POINTS:
            return " ".join(number(part.lstrip("0")) for part in match["dated"].split(".") if part)
        days = (_ordinal(match[name], match, language) for name in ("day", "month"))
        return f"{' '.join(days)} {_year(match['year'] or '', language)}"
    if match["decade"] or match["nth"] or match["place"] or match["ordinal"]:
        return _nth(match, language)
    if match["whole"]:
        return _decimal(match, "whole", words, number, POINTS.get(language) if match["sign"] == "." else None)
    year, noun = _year(match["number"], language), counted_noun(match, language)
    return before_unit(noun, year, language) if noun else year


def _decimal(
    match: re.Match[str], name: str, words: NumberWords, number: Callable[[str], str], sign: str | None = None
) -> str:
    part = match["part" if name == "whole" else f"{name}_part"]
    return f"{number(match[name])} {sign or words.comma} {number(part)}" if part else number(match[name])


def _hours(digits: str, unit: str, number: Callable[[str], str], language: str) -> str:
    hours = before_unit("", number(str(int(digits))), language)
    return f"{hours} {unit.removesuffix('s') if digits.lstrip('0') == '1' and HOURS.get(language) else unit}"


def _degrees(match: re.Match[str], words: NumberWords, number: Callable[[str], str], language: str) -> str:
    singular, _, plural = words.degree.partition("/")
    unit = singular if match["warm"] == "1" or not plural else plural
    scale = {"C": words.celsius, "F": "Fahrenheit" if unit.isascii() else ""}.get(match["scale"] or "", "")
    return f"{before_unit(unit, _decimal(match, 'warm', words, number), language)} {unit or '°'} {scale}"


def _year(digits: str, language: str) -> str:
    """Return a number as years are said: Germanic languages count hundreds from 1100 to 1999."""
    if re.fullmatch(r"1[1-9]\d\d", digits) and can_spell_numbers(language):
        return spell_number(digits, year=True, language=language)
    return _number(digits, language)


def _money(match: re.Match[str], words: NumberWords, number: Callable[[str], str], language: str) -> str:
    name = "paid" if match["paid"] else "price"
    sign = match["before"] or match["behind"]
    amount, part = match[name], match[f"{name}_part"]
    singular, plural, coins = _units(sign, words)
    if amount == "0" and part and coins:
        return f"{number(part)} {coins}"
    cents = f"{words.cents}{number(part.ljust(2, '0'))}" if part and int(part) else ""
    unit = singular if amount == "1" or not plural else plural
    said = before_unit(unit, number(amount), language)
    of = _OF.get(language, "") if _MILLIONS.search(said) else ""
    return f"{said}{of} {unit}{cents}".replace(" de euros", " d'euros" if language == "fra" else " de euros")


def _units(sign: str, words: NumberWords) -> list[str]:
    """Return the words for one, for several and for the coins of the money that ``sign`` stands for."""
    at = _CURRENCIES.index(sign) if sign in _CURRENCIES else len(_CURRENCIES)
    unit = words.own[1] if sign == words.own[0] else words.money[at] if at < len(words.money) else sign
    return [*unit.split("/"), "", ""][:3]


def _nth(match: re.Match[str], language: str) -> str:
    """Return ordinal numbers with their endings as words: *1er*, *1ª*, *2de*, *5-го*, and decades: *90er*."""
    if not can_spell_numbers(language):
        return match[0]
    if match["decade"] and language == "deu":
        return f"{_year(match['decade'], language)}{match['tens']}"
    if match["place"] and language == "rus":
        ending = match["case"]
        tens = ending == "е" and match["place"][-1] == "0"
        case: dict[str, object] = (
            {"plural": True} if tens else {"gender": "n"} if ending == "е" else _RUSSIAN_CASES[ending]
        )
        return spell_number(match["place"], ordinal=True, language=language, inflection=case)
    digits = match["decade"] or match["nth"] or match["place"] or match["ordinal"]
    suffix = match["suffix"] or match["tens"] or ""
    ordinal = _ordinal(digits, match, language)
    if language == "fra" and suffix:
        return "première" if suffix in ("re", "ère", "ere") else ordinal
    ending = {"ª": "a", "a": "a", "r": ""}.get(suffix[-1:])  # el tercer piso
    return f"{ordinal[:-1]}{ending}" if ending is not None and ordinal[-1] == "o" else ordinal


def _ordinal(digits: str, match: re.Match[str], language: str) -> str:
    try:
        ordinal = spell_number(digits.lstrip("0") or "0", ordinal=True, language=language)
    except (NotImplementedError, LookupError):  # num2words has no Korean ordinal number of 200, no Polish one of 0
        return spell_number(digits, language=language)
    inflected = language == "deu" and _INFLECTING.search(match.string[: match.start()])
    return f"{ordinal}n" if inflected else ordinal
