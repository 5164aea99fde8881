"""Full stops, question marks, dots and dashes as speech recognizers write them: which of them end an utterance.

The point of *Mr.* or *z.B.* is a part of the word; dots within a sentence (*the... the*) are a pause; a dash breaks an
utterance off at the end of a text only. Other scripts have marks of their own, and Greek asks with ``;``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from lsa_whisper.labels.numbers import ORDINAL_POINTS
from lsa_whisper.labels.sentence_borders import (
    ENGLISH_MONTHS,
    before_numbers,
    begins_sentence,
    is_letter,
    is_letter_word,
    is_shortened,
    never_ending,
    perhaps_ending,
    spaced_abbreviations,
)

_SCRIPTS = str.maketrans(
    dict.fromkeys("。．｡।॥۔։።។", ". ")
    | dict.fromkeys("？؟፧՞", "? ")
    | dict.fromkeys("！՜", "! ")
    | dict.fromkeys("，、；：،؛፣「」『』《》〈〉【】・〜～", " ")
)
"""The marks of other scripts; CHAT has ``.``, ``?`` and ``!`` only."""
_NOT_LATIN = re.compile("[^\x00-\u036f]")
_GREEK_QUESTION = re.compile(r"[;\u037e](?=\s|$|[\"»”])")
_DOTS = re.compile(r"(?<![+(.\s])\s*(?:…+|\.{2,}|\.?…+\.?)(?![)])(?P<asked>[?!]?)(?P<close>[\"”»]?)\s*")
_LEADING = re.compile(r"\A\s*(?:…|\.{2,}|-{2,}|[–—])+\s*")
_DASH = r"(?:-{2,}|[–—])"
_LAST_DASH = re.compile(rf"(?<=[\w'’,])\s*{_DASH}\s*\Z")
_DASHES = re.compile(
    rf"(?<=[^\W\d_])\s*{_DASH}(?=[.?!,;:\s\"”])|(?<=\w){_DASH}(?=[^\W\d_])|(?<=\s){_DASH}(?=\s|[^\W\d_])"
)
_ORDINALS = re.compile(r"(?:(?<=\d\.)|(?<=\b(?:Mo|Di|Mi|Do|Fr|Sa)\.)) ?([-–/]) ?(?=(?:\d{1,2}|Di|Mi|Do|Fr|Sa|So)\.)")
"""What parts two ordinal numbers, or days of the week: *3.-5. Mai*, *Mo.-Fr.*"""
_CHAIN = re.compile(r"\b([^\W\d_a-z][^\W\d_]{1,4})\.[-–](?=[^\W\d_]{2,5}\.)")
"""The first of two abbreviations: *Dipl.-Ing.*, *Mon.-Fri.*"""
_DOTS_OR_DASHES = re.compile(r"[…–—]|\.\.|--")
_BROKEN = re.compile(
    r"(?i)(?<![\w'’-])(?P<part>[b-df-hj-np-tv-zбвгджзклмнпрстфхцчшщ]{1,3})\s?(?:(?P<pause>\.{2,}|…)|[–—]|-{2,})\s*"
    r"(?=(?P=part)[^\W\d_])"
)
"""The first consonants of a word, and the word behind a pause or a dash."""
_SUSPENDED = {
    "eng": re.compile(
        r"(?i)\b(one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|\d+|pre|post|over|under|short|long|mid"
        r"|multi|micro|macro|inter|intra|full|part|left|right|first|second|third|single|double|half|high|low|non|anti)"
        r"-(?=,? (?:and|or|to) \w)"
    ),
    "deu": re.compile(r"(\w{3,})-(?=,? (?:und|oder|bzw|sowie|wie) \w|, \w+(?:-,? |$))|(\bein)-(?=, zwei)"),
    "nld": re.compile(r"(\w{3,})-(?=,? (?:en|of) \w)"),
    "swe": re.compile(r"(\w{3,})-(?=,? (?:och|eller) \w)"),
    "dan": re.compile(r"(\w{3,})-(?=,? (?:og|eller) \w)"),
    "nor": re.compile(r"(\w{3,})-(?=,? (?:og|eller) \w)"),
}
"""Words whose second part follows with another one: *two- and three-year-olds*, *Haus- und Gartenarbeit*."""
_MAY_CHANGE = re.compile(r"[.;…–—@]|-[-, ]|[\"”»“]|[^\x00-\u036f]")
_TOKEN = re.compile(r"(?P<open>[^\w.?!+&]*)(?P<core>.*?)(?P<marks>[.?!]*)(?P<close>[\"”“»’')\],;:]*)", re.DOTALL)
_LETTERS = re.compile(r"(?<![^\W_])[^\W\d_]{1,2}(?:\.-?[^\W\d_ºª](?![^\W_]))+(?:\.(?=\W|\Z))?")
"""Letters with points between them: *U.S.*, *Ph.D.*"""
_CHAT = re.compile(r"\+\S*|\([\d.:]+\)[.?!]?")
"""Terminators and pauses of CHAT, which stay as they are."""
_SIGN = re.compile(r"[.?!+(]")
"""Without one, a token stays as it is."""
_POINT = re.compile(r"(?<=[^\W_])\.(?=[a-z0-9])")
_IS_ADDRESS = re.compile(
    r"[^\W_]{2}\.(?:com|org|net|edu|gov|info|io|tv|me|eu|de|at|ch|fr|be|es|mx|ar|cl|co|it|pt|br|nl|pl|cz|ru|ua|gr|tr|uk|us"
    r"|se|dk|fi|hu|ro|il|jp|cn|kr|cat|js|py|txt|pdf|docx?|html?|mp[34]|jpe?g|png|zip|exe|csv)(?:/\S*)?[.?!,;:\"”)]*\Z|@|\bwww\.|://"
)
_SHORTENED = re.compile(r"(?i)\b(dott|prof|sig|ing|avv|egr|gent)\.(?=(?:ssa|ra|na|re|ri|mo|ma)\b)")
"""Italian abbreviations in which the point stands for letters within."""
_IN_QUERY = re.compile(r"[?=&#](?=\w)")
_AT = re.compile(r"(?<=\w)@(?=[\w-]+\.[a-z])")
_ADDRESS = {
    "eng": ("dot", "at"), "deu": ("Punkt", "at"), "fra": ("point", "arobase"), "spa": ("punto", "arroba"),
    "ita": ("punto", "chiocciola"), "por": ("ponto", "arroba"), "nld": ("punt", "apenstaartje"),
    "cat": ("punt", "arrova"), "swe": ("punkt", "snabel-a"), "dan": ("punktum", "snabel-a"),
    "nor": ("punktum", "krøllalfa"), "fin": ("piste", "ät"), "pol": ("kropka", "małpa"), "ces": ("tečka", "zavináč"),
    "rus": ("точка", "собака"), "ukr": ("крапка", "равлик"), "ell": ("τελεία", "παπάκι"), "tur": ("nokta", "et"),
}  # fmt: skip
"""How the point and ``@`` of an address are said."""
_INITIAL = re.compile(r"[^\W\d_]\.(?:-?[^\W\d_]\.)*")
"""The initials of a name, which go on: *R.* or *J.-P.*"""
_ROMAN = re.compile(r"[IVXLC]+")
_DAY = re.compile(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])")
_CLOCKS = frozenset(("a.m", "p.m", "A.M", "P.M"))


_WORD = "[a-zA-Z]++(?:'[a-zA-Z]++)*"
_PLAIN_END = re.compile("([a-z]{2,})[.?!]")
_PLAIN = re.compile(rf"(?P<words>(?:{_WORD}[ ,]++)*(?P<last>{_WORD}))(?P<mark>[.?!]?)")


class _Token(NamedTuple):
    """What stands between two spaces, as it is to be read, and whether it ends a sentence."""

    text: str
    ends: bool


def plain_sentence(text: str, language: str) -> tuple[str, str] | None:
    """Return the words and the mark of a ``text`` that is one sentence of letters and commas; ``None`` for any other.

    Nothing in such a text changes, so that the rules for marks, signs and numbers need not be tried.

    >>> plain_sentence("Yes, I do.", "eng"), plain_sentence("I saw Mr.", "eng"), plain_sentence("Yes. No.", "eng")
    (('Yes  I do', '.'), None, None)
    """
    match = _PLAIN.fullmatch(text)
    if match is None or "XX" in text or match["last"] in never_ending(language):  # XX is a century, or CHAT's code
        return None
    return match["words"].replace(",", " "), match["mark"]


@lru_cache(maxsize=1 << 15)
def read_marks(text: str, language: str) -> str:
    """Return ``text`` in which every full stop ends a sentence; signs that do not are gone, or codes of CHAT.

    ``language`` is ISO 639-3.

    >>> read_marks("Mr. Smith lives in the U.S. He saw the... the dog. So--", "eng")
    'Mr Smith lives in the U S. He saw the (.) the dog. So +/.'
    >>> read_marks("Ich mag z. B. Äpfel usw. Ja.", "deu"), read_marks("你好。好吗？", "zho")
    ('Ich mag z B Äpfel usw. Ja.', '你好. 好吗?')
    """
    if not _MAY_CHANGE.search(text):
        return text
    if plain_sentence(text, language):
        return " ".join(text.split())
    tokens = _prepared(text, language).split()
    around = zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False)
    words = (
        _read(token, before, after, language).text if _SIGN.search(token) else token for before, token, after in around
    )
    return " ".join(filter(None, words))


@lru_cache(maxsize=1 << 14)
def ends_sentence(word: str, following: str, language: str, before: str = "") -> bool:
    """Return whether a sentence ends behind ``word``, which stands between ``before`` and ``following``, if anything.

    >>> [ends_sentence(*pair, "eng") for pair in (("dog.", "Mr."), ("Mr.", "Smith"), ("the...", "the"), ("U.S.", ""))]
    [True, False, False, True]
    """
    plain = _PLAIN_END.fullmatch(word)
    if plain and plain[1] not in never_ending(language) and plain[1] not in perhaps_ending(language):
        return True
    tokens = _prepared(f"{word} ." if following else word, language).split()[: -1 if following else None]
    after = _prepared(following, language).split()
    return bool(tokens) and _read(tokens[-1], before, after[0] if after else "", language).ends


def _prepared(text: str, language: str) -> str:
    """Return ``text`` with the marks of ASCII only, dots at the end of words, and without dashes between words."""
    if language == "ell":
        text = _GREEK_QUESTION.sub("?", text)
    if _NOT_LATIN.search(text):
        text = text.translate(_SCRIPTS)
    text = _BROKEN.sub(lambda match: _broken(match, language), text)
    if "- " in text or "-, " in text:
        pattern = _SUSPENDED.get(language)
        text = pattern.sub(r"\1\2" if language == "deu" else r"\1", text) if pattern else text
    if abbreviations := spaced_abbreviations(language):
        text = abbreviations.sub(lambda match: "".join(match[0].split()), text)
    if language in ORDINAL_POINTS:
        text = _ORDINALS.sub(lambda match: " bis " if language == "deu" and match[1] != "/" else ", ", text)
    text = _CHAIN.sub(r"\1 ", text)
    if not _DOTS_OR_DASHES.search(text):
        return text
    text = _DOTS.sub(lambda match: f"...{match['asked']}{match['close']} ", _LEADING.sub("", text))
    return _DASHES.sub(" ", _LAST_DASH.sub(" +/.", text))


def _broken(match: re.Match[str], language: str) -> str:
    """Return the sounds before a pause or a dash as cut off, unless they are a word such as Russian *в*."""
    if not is_letter(match["part"], language) and len(match["part"]) == 1:
        return match[0]
    return f"{match['part']}- {'(.) ' if match['pause'] else ''}"


def _read(token: str, before: str, after: str, language: str) -> _Token:
    if not _SIGN.search(token):
        return _Token(token, ends=False)
    if _CHAT.fullmatch(token):
        return _Token(token, token[0] == "+" or token[-1] != ")")
    token = _address(token, language)
    parts = _TOKEN.fullmatch(token)
    if parts is None or not parts["marks"]:
        return _Token(_linked(token) if "." in token else token, ends=False)
    begin, core, marks, close = parts["open"], parts["core"], parts["marks"], parts["close"]
    if marks[:2] in (".?", ".!"):  # U.S.?
        marks = marks[1:]
    following = after.strip("\"“”„«»'’‘(¿¡,;:.?!") or after
    if len(marks) > 1 and marks.startswith(".."):
        return _after_dots(begin + core, marks, close, following)
    if marks == "." and close[:1] in tuple(",;:"):  # no sentence ends before a comma
        is_ordinal = core.isdigit() and language in ORDINAL_POINTS
        apart = _apart(core) if core in perhaps_ending(language) | never_ending(language) else _linked(core)
        return _Token(f"{begin}{core}." if is_ordinal else f"{begin}{apart}{close}", ends=False)
    names_on = bool(_INITIAL.fullmatch(after))
    if marks == "." and (short := _abbreviation(core, before, following, language, names_on=names_on)):
        return _Token(f"{begin}{short.text}{close}", short.ends)
    if _DAY.fullmatch(core) and language in ORDINAL_POINTS and (following[:1].islower() or before.casefold() == "am"):
        return _Token(f"{begin}{core}.{close}{'' if following else ' .'}", ends=not following)  # am 24.12.
    if marks == "." and core[-1:].isdigit() and language != "eng":
        return _Token(f"{begin}{core}{close} .", ends=True)  # not the point of an ordinal number
    quoted = close.strip(",;:") and following[:1].islower()  # "Go!" he said
    return _Token(begin + core + close if quoted else begin + _linked(core) + marks + close, not quoted)


def _address(token: str, language: str) -> str:
    """Return the point and ``@`` of an address as words: *mail.com* is ``mail dot com``; *dott.ssa* is none."""
    if "." not in token or not _IS_ADDRESS.search(token):
        return _SHORTENED.sub(r"\1 ", token) if language == "ita" else token
    dot, at = _ADDRESS.get(language, ("", ""))
    token = _IN_QUERY.sub(" ", token) if "/" in token else token
    return _POINT.sub(f" {dot} ", _AT.sub(f" {at} ", token))


def _after_dots(core: str, marks: str, close: str, following: str) -> _Token:
    """Return what dots are: the end of the text or of a sentence, or a pause within it."""
    if marks[-1] in "?!":
        return _Token(f"{core}{close} {'+..?' if marks[-1] == '?' else '!'}", ends=True)
    capital = following[:1].isupper() and not re.match(r"I\b", following)
    again = following.casefold().strip(".,") == core.casefold()
    if not following or following[0] == "+" or (capital and not again):
        return _Token(f"{core}{close} +...", ends=True)
    return _Token(f"{core}{close} (.)", ends=False)


def _abbreviation(core: str, before: str, following: str, language: str, *, names_on: bool) -> _Token | None:
    """Return ``core`` as an abbreviation before a point, with the point if it ends a sentence; ``None`` for a word.

    With ``names_on``, the initial of a name follows.
    """
    capital = following[:1].isupper()
    small = core[:1].lower() + core[1:]  # "P.ej." begins a sentence
    if core in _CLOCKS and language == "eng":
        return _ended(core, not following or capital)
    if not never_ending(language).isdisjoint((core, small)):
        if before[-1:].isdigit() and begins_sentence(following, language):  # Russian 1984 г. Он
            return _Token(f"{core}.", ends=True)
        return _Token(_apart(core), ends=False)
    if core in ENGLISH_MONTHS and language == "eng" and following[:1].isdigit():
        return _Token(core, ends=False)
    if core == "in" and language == "eng" and before[-1:].isdigit() and following[:1].islower():
        return _Token("inch" if before == "1" else "inches", ends=False)
    before_number = core in before_numbers(language) or (language == "deu" and core.endswith("str"))  # Hauptstr. 5
    if before_number and (following[:1].isdigit() or _ROMAN.fullmatch(following)):
        return _Token(f"{core}." if core == "No" else core, ends=False)
    if core in perhaps_ending(language):
        noun = language == "deu" and before[-1:].isdigit() and not begins_sentence(following, language)  # 5 Min. Pause
        return _ended(_apart(core), not following or (capital and not noun))
    if _LETTERS.fullmatch(core):
        return _ended(_linked(core), not following or (not names_on and begins_sentence(following, language)))
    in_name = not before or before[0].isupper() or not before[-1].isalnum()
    goes_on = names_on or following[:1].islower() or (in_name and capital and not begins_sentence(following, language))
    if len(core) == 1 and core.isupper() and goes_on:
        is_word = is_letter_word(core, language) and not _INITIAL.fullmatch(before)
        return None if is_word else _Token(core, ends=False)
    if is_shortened(core, following, language):
        return _Token(core, ends=False)
    if _ROMAN.fullmatch(core) and language in ORDINAL_POINTS and following[:1].islower():
        return _Token(core, ends=False)
    if following and core.isdigit() and language in ORDINAL_POINTS and not begins_sentence(following, language):
        return _Token(f"{core}.", ends=False) if following[0].isalpha() else None
    return None


def _ended(core: str, ends: bool) -> _Token:
    return _Token(f"{core}{'.' if ends else ''}", ends)


def _apart(core: str) -> str:
    """Return the parts of an abbreviation as words: ``EE UU``."""
    return re.sub(r"\.-?", " ", core)


def _linked(core: str) -> str:
    """Return letters with points as words: ``U S``."""
    if core.casefold() == "o.k":
        return "OK"
    return _LETTERS.sub(lambda match: " ".join(re.split(r"[.-]+", match[0].rstrip("."))), core)
