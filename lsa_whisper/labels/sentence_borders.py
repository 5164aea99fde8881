"""Where a sentence begins and ends in plain text: abbreviations whose point does not end one, and capital letters."""

from __future__ import annotations

import re
from functools import cache

_NEVER = {
    "eng": """Vol vol pp Mr Mrs Ms Dr Prof St Mt Rev Gen Col Capt Lt Sgt Sen Rep Gov Hon vs Messrs approx e.g i.e""",
    "deu": "Hr Hrn Fr Dr Prof Dipl Ing St Str Nr bzw ca evtl ggf inkl vgl Mio Mrd Tel geb z.B d.h u.a o.ä i.d.R z.T",
    "fra": "M MM Mme Mmes Mlle Dr Pr St Ste env p.ex c.-à-d",
    "spa": "Sr Sra Srta Sres Sras Dr Dra Prof Profa D Dña Lic Ing núm pág aprox p.ej",
    "ita": "sig Sig sigg Sigg sig.ra Sig.ra sig.na dott Dott dr Dr prof Prof avv Avv ing Ing S p.es",
    "por": "Sr Sra Srs Sras D Dr Dra Prof Profa Sto Sta Exmo Exma p.ex",
    "nld": "dhr Dhr mevr Mevr mw Mw dr Dr drs Drs prof Prof ir bijv bv nr ca d.w.z m.a.w o.a",
    "swe": "dr Dr prof nr ca t.ex bl.a d.v.s",
    "dan": "dr Dr hr Hr fr Fr prof nr ca f.eks bl.a d.v.s",
    "nor": "dr Dr prof nr ca f.eks bl.a d.v.s",
    "pol": "dr Dr prof Prof mgr inż ul np tzn tj m.in",
    "ces": "dr Dr MUDr prof Prof ing Ing mgr Mgr např tzv tj",
    "rus": "г ул проф т.е",
    "ukr": "м вул проф тобто т.є",
    "ell": "κ κα κος Δρ π.χ δηλ",
    "tur": "Dr Prof Av örn",
    "hin": "डॉ श्री प्रो",
    "ara": "د أ",
}
"""These never end a sentence, not even where a segment ends: a name or a number follows."""
_MAY = {
    "eng": "etc Jr Sr Inc Ltd Co a.m p.m A.M P.M",
    "deu": "usw etc u.s.w",
    "fra": "etc",
    "spa": "etc Ud Uds a.m p.m EE.UU",
    "ita": "ecc",
    "por": "etc",
    "nld": "enz etc",
    "swe": "osv etc m.m",
    "dan": "osv etc m.m",
    "nor": "osv etc",
    "pol": "itd itp",
    "ces": "atd apod",
    "rus": "др т.д т.п",
    "ukr": "т.д т.п",
    "ell": "κ.λπ κ.ά",
    "tur": "vb vs",
}
"""These end a sentence before a capital letter, and at the end of a text."""
ENGLISH_MONTHS = frozenset(["Jan", "Feb", "Mar", "Apr", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec"])
"""English months as they stand before a day."""
_SAME = {"nob": "nor", "nno": "nor"}


@cache
def never_ending(language: str) -> frozenset[str]:
    """Return the abbreviations, without their last point, that never end a sentence in ``language`` (ISO 639-3)."""
    return frozenset(_NEVER.get(_SAME.get(language, language), "").split())


@cache
def perhaps_ending(language: str) -> frozenset[str]:
    """Return the abbreviations, without their last point, that may end a sentence."""
    return frozenset(_MAY.get(_SAME.get(language, language), "").split())


@cache
def spaced_abbreviations(language: str) -> re.Pattern[str] | None:
    """Return what matches abbreviations of several letters with spaces, such as *z. B.* or *EE. UU.*, in them."""
    several = (name for name in never_ending(language) | perhaps_ending(language) if "." in name)
    names = [*several, *(["U.S", "U.K"] if language == "eng" else [])]
    spaced = "|".join(re.escape(name).replace(r"\.", r"\.\s") for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?i:{spaced})\.") if spaced else None


@cache
def titles(language: str) -> frozenset[str]:
    """Return the abbreviations that stay capital everywhere: *Mr*, *Sr*, *Mme*."""
    return frozenset(name for name in never_ending(language) if name[0].isupper() and "." not in name)


_ALWAYS_CAPITAL = frozenset(("I", "I'm", "I've", "I'll", "I'd", "Ph"))
_GERMAN_WORDS = """
    aber ach alle alles als also am an auch auf aus bei beim bis da dann das dass dein deine dem den denn der des
    deshalb die dies diese dieser doch dort du durch ein eine einem einen einer er erst es euch euer für ganz gar
    geh gib gut hat hast haben hier hinter ich ihm ihn ihr ihre im immer in ist ja jetzt jeder kann kein keine
    komm mal man mein meine mir mich mit muss nach nein neben nicht nichts noch nun nur ob oben oder ohne schau
    schon sehr sein seine sich sie sind so und uns unser unten unter viel vielleicht vom von vor wann war warum
    was weil wem wen wenn wer wie wieder will wir wo zu zum zur zwischen
"""
_GERMAN_UNCAPITALIZED = frozenset(_GERMAN_WORDS.split())
"""German words that begin a sentence and are not nouns; any other first word may be one and keeps its capital."""
_STARTERS = """
    A After All And Are As At Because But Can Could Did Do Does Don't For From Had Has Have He He's Her Here His How I
    I'd I'll I'm I've If In Is It It's Its Just Let Let's Like Maybe My No Not Now Of Oh Okay OK On One Or Our She So
    Some That That's The Their Then There There's These They They're They've This Those To Um Uh Was We We'll
    We're We've Well Were What What's She's When Where Which Who Why Will With Would Yeah Yes You You're Your
"""
_STARTS = {"eng": frozenset(_STARTERS.split()), "deu": frozenset(word.capitalize() for word in _GERMAN_UNCAPITALIZED)}
"""Capital words that are hardly ever a part of a name; in other languages, any capital word begins a sentence behind
an abbreviation."""


def uncapitalized(word: str, language: str) -> str:
    """Return the first ``word`` of a sentence as CHAT writes it, which capitalizes names only, and German nouns.

    >>> uncapitalized("The", "eng"), uncapitalized("I", "eng"), uncapitalized("I", "ita"), uncapitalized("NATO", "eng")
    ('the', 'I', 'i', 'NATO')
    >>> uncapitalized("Der", "deu"), uncapitalized("Hund", "deu")
    ('der', 'Hund')
    """
    if not word[:1].isupper() or (len(word) > 1 and word.isupper()):
        return word
    if word in titles(language):
        return word
    if language == "eng" and (word in _ALWAYS_CAPITAL or (len(word) == 1 and word not in "AO")):
        return word
    if language == "deu" and word.lower() not in _GERMAN_UNCAPITALIZED:
        return word
    return word[0].lower() + word[1:]


def begins_sentence(word: str, language: str) -> bool:
    """Return whether a sentence may begin with ``word`` behind the abbreviation before it.

    >>> [begins_sentence(word, "eng") for word in ("They", "Army", "they")], begins_sentence("Es", "spa")
    ([True, False, False], True)
    """
    if not word[:1].isupper():
        return False
    known = _STARTS.get(language)
    return known is None or word in known
