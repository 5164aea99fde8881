"""Numbers, times, percentages and amounts of languages other than English, as words.

num2words knows the numbers; the words around them stand here. The words of one number are joined as those of English
are (:mod:`lsa_whisper.labels.numbers`), so that the original spelling can be told and none is a repetition.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from lsa_whisper.labels.numbers import JOINER, NOT_NUMBERS, ORDINAL_POINTS, can_spell_numbers, spell_number


class _Words(NamedTuple):
    """The words of a language for signs; a currency has the words for one and for several."""

    comma: str = ","
    percent: str = "%"
    clock: str = ""
    joined: str = "&"
    cents: str = " "
    money: tuple[str, ...] = ()
    """``€``, ``$``, ``£`` and, in Portuguese, ``R$``, as ``one/several``."""


_WORDS = {
    "deu": _Words("Komma", "Prozent", "Uhr", "und", " ", ("Euro", "Dollar", "Pfund")),
    "nld": _Words("komma", "procent", "uur", "en", " ", ("euro", "dollar", "pond")),
    "fra": _Words("virgule", "pour cent", "heures", "et", " ", ("euro/euros", "dollar/dollars", "livre/livres")),
    "spa": _Words("coma", "por ciento", "", "y", " con ", ("euro/euros", "dólar/dólares", "libra/libras")),
    "ita": _Words("virgola", "per cento", "", "e", " e ", ("euro", "dollaro/dollari", "sterlina/sterline")),
    "por": _Words(
        "vírgula", "por cento", "", "e", " e ", ("euro/euros", "dólar/dólares", "libra/libras", "real/reais")
    ),
    "cat": _Words("coma", "per cent", "", "i", " amb ", ("euro/euros", "dòlar/dòlars", "lliura/lliures")),
    "swe": _Words("komma", "procent", "", "och", " ", ("euro", "dollar", "pund")),
    "dan": _Words("komma", "procent", "", "og", " ", ("euro", "dollar", "pund")),
    "nor": _Words("komma", "prosent", "", "og", " ", ("euro", "dollar", "pund")),
    "fin": _Words("pilkku", "prosenttia", "", "ja", " ", ("euro/euroa", "dollari/dollaria", "punta/puntaa")),
    "pol": _Words("przecinek", "procent", "", "i", " "),
    "ces": _Words("celá", "procent", "", "a", " "),
    "rus": _Words("запятая", "процентов", "", "и", " "),
    "ukr": _Words("кома", "відсотків", "", "і", " "),
    "ell": _Words("κόμμα", "τοις εκατό", "", "και", " "),
    "hun": _Words("egész", "százalék", "", "és", " "),
    "ron": _Words("virgulă", "la sută", "", "și", " "),
    "heb": _Words("נקודה", "אחוז", "", "ו", " "),
    "ara": _Words("فاصلة", "بالمئة", "", "و", " "),
    "hin": _Words("दशमलव", "प्रतिशत", "", "और", " "),
    "jpn": _Words("点", "パーセント", "", "と", " ", ("ユーロ", "ドル", "ポンド")),
    "kor": _Words("점", "퍼센트", "", "와", " ", ("유로", "달러", "파운드")),
}
_HOURS = {"fra": "heures", "por": "horas"}
"""The word for the *h* of *7h30*."""
_POINTS = {"spa": "punto", "ita": "punto", "por": "ponto", "fra": "point", "deu": "Punkt", "nld": "punt"}
"""The word for a decimal point, where it is not a comma."""
_SAME = {"nob": "nor", "nno": "nor"}
_CURRENCIES = ("€", "$", "£", "R$")
_NUMBER = r"(?:\d{1,3}(?:[., \u202f\u00a0]\d{3})+(?!\d)|\d+)"


def _amount(name: str) -> str:
    """Return the pattern of a number with or without a decimal part, as groups ``name`` and ``name_part``."""
    return rf"(?P<{name}>{_NUMBER})(?:[.,](?P<{name}_part>\d{{1,2}}))?(?!\d|[.,]\d)"


_ANY = re.compile(
    rf"{NOT_NUMBERS}"
    r"|(?<![\w.,:])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?![\d:])(?P<clock>\s*(?:Uhr|uur|heures)\b)?"
    r"|(?<![\w.,:])(?P<bell>\d{1,2})\s?h(?P<past>[0-5]\d)?(?![^\W_])"
    rf"|(?P<before>R?\$|[€£])\s?{_amount('paid')}"
    rf"|{_amount('price')}\s?(?P<behind>R?\$|[€£])"
    rf"|{_amount('share')}\s?%"
    r"|(?<![\w-])(?P<run>\d+(?:[-–]\d+)+)(?![\w-])"
    r"|(?P<dated>(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})?)(?!\d)"
    r"|(?P<nth>\d{1,3})(?P<suffix>er|[èe]re|re|[èe]me|e|[.]?[ºª])(?![^\W_])"
    r"|(?P<ordinal>\d{1,3})\.(?=\s+\w)"
    r"|(?<![\d.,])(?P<whole>\d+)(?P<sign>[.,])(?P<part>\d{1,2})(?![.,]?\d)"
    rf"|(?P<number>{_NUMBER})"
)
_AND = re.compile(r"(?<=[\w%.€]) & (?=[\w€$£])|(?<=[^\W\d_])&(?=[^\W\d_])")
_CHINESE = ("zho", "cmn", "yue")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s?%")
_INFLECTING = re.compile(r"\b(?:am|im|vom|zum|beim|dem|den|bis|ab|seit|nach|unserem|ihrem|seinem)\s*\Z", re.IGNORECASE)
"""What stands before a German ordinal number that ends in *-n*."""
_HAS_ZWJ = frozenset(["ara", "fas", "urd", "hin", "mar", "nep", "ben", "guj", "pan", "tam", "tel", "kan", "mal", "sin"])
"""Languages whose spelling has :data:`JOINER`: there the words of a number are not joined."""


def speak_other(text: str, language: str, written: dict[str, str] | None, *, plain: bool) -> tuple[str, int]:
    """Return ``text`` with its numbers as words, and how many were replaced.

    Args:
        text: in a language other than English.
        language: ISO 639-3. Numbers of a language that num2words does not know stay digits.
        written: takes the original spelling of each number by its joined words, as for English.
        plain: whether ``&`` is a sign of plain text, and not CHAT's.

    >>> speak_other("um 7:05, 3,5 % für 5 €", "deu", None, plain=True)[0].split()
    ['um', 'sieben', 'Uhr', 'fünf', ',', 'drei', 'Komma', 'fünf', 'Prozent', 'für', 'fünf', 'Euro']
    >>> speak_other("am 3. Mai", "deu", None, plain=True), speak_other("20 %", "zho", None, plain=True)
    (('am  dritten  Mai', 1), ('百分之20', 1))
    """
    words = _WORDS.get(_SAME.get(language, language), _Words())
    if plain:
        text = _AND.sub(f" {words.joined} ", text)
    if language in _CHINESE:
        return _SHARE.subn(r"百分之\1", text)
    if not can_spell_numbers(language):
        return re.sub(r"(?<=\d)\s?%", f" {words.percent}", text), 0
    count = 0

    def spoken(match: re.Match[str]) -> str:
        nonlocal count
        if match["keep"]:
            return match["keep"]
        if match["ordinal"] and not plain:
            return f" {spell_number(match['ordinal'], language=language)} ."
        count += 1
        said = _words_of(match, words, language).split()
        if written is None or language in _HAS_ZWJ:
            return f" {' '.join(said)} "
        token = JOINER + JOINER.join(said)
        written[token] = match[0].strip()
        return f" {token} "

    return _ANY.sub(spoken, text), count


def _words_of(match: re.Match[str], words: _Words, language: str) -> str:
    def number(digits: str) -> str:
        return spell_number(re.sub(r"\D", "", digits), language=language) if digits else ""

    if match["hour"]:
        hour, minute = number(str(int(match["hour"]))), int(match["minute"])
        return f"{hour} {words.clock or (match['clock'] or '')} {number(str(minute)) if minute else ''}"
    if match["bell"]:
        return f"{number(match['bell'])} {_HOURS.get(language, 'h')} {number((match['past'] or '').lstrip('0'))}"
    if match["paid"] or match["price"]:
        return _money(match, words, number)
    if match["share"]:
        part = f" {words.comma} {number(match['share_part'])}" if match["share_part"] else ""
        return f"{number(match['share'])}{part} {words.percent}"
    if match["run"]:
        return " ".join(map(number, re.split("[-–]", match["run"])))
    if match["dated"]:
        if language not in ORDINAL_POINTS:
            return " ".join(map(number, filter(None, match["dated"].split("."))))
        days = (_ordinal(match[name], match, language) for name in ("day", "month"))
        return f"{' '.join(days)} {number(match['year'] or '')}"
    if match["nth"]:
        return _nth(match, language)
    if match["ordinal"]:
        return _ordinal(match["ordinal"], match, language)
    if match["whole"]:
        sign = _POINTS.get(language, words.comma) if match["sign"] == "." else words.comma
        return f"{number(match['whole'])} {sign} {number(match['part'])}"
    return number(match["number"])


def _money(match: re.Match[str], words: _Words, number: Callable[[str], str]) -> str:
    name = "paid" if match["paid"] else "price"
    sign = match["before"] or match["behind"]
    amount, part = match[name], match[f"{name}_part"]
    at = _CURRENCIES.index(sign)
    unit = words.money[at] if at < len(words.money) else sign
    one, _, several = unit.partition("/")
    cents = f"{words.cents}{number(part.ljust(2, '0'))}" if part and int(part) else ""
    return f"{number(amount)} {one if amount == '1' or not several else several}{cents}"


def _nth(match: re.Match[str], language: str) -> str:
    """Return French *1er*, *1re* and *2e*, and the *1º* and *1ª* of other languages, as words."""
    said = _ordinal(match["nth"], match, language)
    if language == "fra":
        return "première" if match["suffix"] in ("re", "ère", "ere") else said
    return f"{said[:-1]}a" if match["suffix"][-1] == "ª" and said[-1] == "o" else said


def _ordinal(digits: str, match: re.Match[str], language: str) -> str:
    try:
        said = spell_number(digits.lstrip("0") or "0", ordinal=True, language=language)
    except NotImplementedError:
        return spell_number(digits, language=language)
    inflected = language == "deu" and _INFLECTING.search(match.string[: match.start()])
    return f"{said}n" if inflected else said
