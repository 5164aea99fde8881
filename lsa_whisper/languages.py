"""Language codes: CHAT uses ISO 639-3 (``eng``), Whisper its own list of 100 codes (mostly ISO 639-1, ``en``).

The mapping comes from langcodes, which knows deprecated codes, bibliographic codes and macrolanguages. Only the three
languages that Whisper names differently from Unicode's CLDR stand here.
"""

from __future__ import annotations

from functools import cache

_WHISPER_LIST = """
af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it
ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so
sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh
"""
WHISPER_CODES = frozenset(_WHISPER_LIST.split())
"""The codes of the languages that Whisper was trained on (``yue`` only since large-v3)."""

_WHISPER_CODE_OF = {"jv": "jw", "fil": "tl", "nb": "no"}
"""CLDR's code -> Whisper's, where they differ."""


@cache
def whisper_code(language: str) -> str:
    """Return Whisper's code for a language; a language unknown to Whisper keeps its code.

    Members of a macrolanguage map to it, for Whisper does not distinguish them: ``cmn`` (Mandarin) is ``zh``.

    Args:
        language: ISO 639-1, ISO 639-2 or ISO 639-3, BCP 47, or already Whisper's code; in either case.

    >>> [whisper_code(code) for code in ("eng", "en", "cmn", "yue", "jav", "nob", "vec")]
    ['en', 'en', 'zh', 'yue', 'jw', 'no', 'vec']
    """
    from langcodes import Language  # 0.07 s, which `--help` need not wait for
    from langcodes.tag_parser import LanguageTagError

    code = language.strip().lower()
    if code in WHISPER_CODES:
        return code
    try:
        known = Language.get(code).prefer_macrolanguage().language or code
    except LanguageTagError:
        return code
    known = _WHISPER_CODE_OF.get(known, known)
    return known if known in WHISPER_CODES else code


@cache
def chat_code(language: str) -> str:
    """Return the ISO 639-3 code that CHAT uses for a language; an unknown language keeps its code.

    Args:
        language: ISO 639-1, ISO 639-2 or ISO 639-3, BCP 47, or Whisper's code; in either case.

    >>> [chat_code(code) for code in ("en", "eng", "zh", "cmn", "jw", "fre")]
    ['eng', 'eng', 'zho', 'cmn', 'jav', 'fra']
    """
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    code = language.strip().lower()
    if code == "tl":
        return "tgl"  # CLDR replaces Tagalog with Filipino (fil)
    try:
        known = Language.get(code)
        is_iso_639_3 = len(code) == 3 and known.to_alpha3("B") != code  # unlike `fre`, the bibliographic `fra`
        return code if is_iso_639_3 else known.to_alpha3()
    except (LanguageTagError, LookupError):
        return code


@cache
def is_language(code: str) -> bool:
    """Return whether ISO 639 has a language with this code.

    >>> [is_language(code) for code in ("eng", "zho", "xyz", "not a code")]
    [True, True, False, False]
    """
    from langcodes import tag_is_valid

    return tag_is_valid(code)
