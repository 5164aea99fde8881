"""Abbreviations whose point does not end a sentence, by language."""

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
