"""Language codes: CHAT uses ISO 639-3 (``eng``), Whisper its own list of 100 codes (mostly ISO 639-1, ``en``).

The mapping comes from langcodes, which knows deprecated codes, bibliographic codes and macrolanguages. Only the three
languages that Whisper names differently from Unicode's CLDR stand here. A multilingual model's language detection tells
whether a recording is in another language than expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from lsa_whisper.errors import LsaWhisperError

_WHISPER_LIST = """
af afrikaans am amharic ar arabic as assamese az azerbaijani ba bashkir be belarusian bg bulgarian bn bengali bo
tibetan br breton bs bosnian ca catalan cs czech cy welsh da danish de german el greek en english es spanish et
estonian eu basque fa persian fi finnish fo faroese fr french gl galician gu gujarati ha hausa haw hawaiian he hebrew
hi hindi hr croatian ht haitian hu hungarian hy armenian id indonesian is icelandic it italian ja japanese jw javanese
ka georgian kk kazakh km khmer kn kannada ko korean la latin lb luxembourgish ln lingala lo lao lt lithuanian lv
latvian mg malagasy mi maori mk macedonian ml malayalam mn mongolian mr marathi ms malay mt maltese my burmese ne
nepali nl dutch nn nynorsk no norwegian oc occitan pa punjabi pl polish ps pashto pt portuguese ro romanian ru russian
sa sanskrit sd sindhi si sinhala sk slovak sl slovenian sn shona so somali sq albanian sr serbian su sundanese sv
swedish sw swahili ta tamil te telugu tg tajik th thai tk turkmen tl tagalog tr turkish tt tatar uk ukrainian ur urdu
uz uzbek vi vietnamese yi yiddish yo yoruba yue cantonese zh chinese
"""
_CODE_OF_NAME = dict(zip(_WHISPER_LIST.split()[1::2], _WHISPER_LIST.split()[::2], strict=True))
"""The codes of the languages that Whisper was trained on, by their English name."""
_OTHER_NAMES = {
    "bokmål": "no", "castilian": "es", "farsi": "fa", "filipino": "tl", "flemish": "nl", "haitian creole": "ht",
    "mandarin": "zh", "mandarin chinese": "zh", "panjabi": "pa", "pushto": "ps", "sinhalese": "si", "valencian": "ca",
}  # fmt: skip
"""Other English names of some of them, by which their speakers and journals call them."""
WHISPER_CODES = frozenset(_CODE_OF_NAME.values())
"""The codes of the languages that Whisper was trained on (``yue`` only since large-v3)."""

_WHISPER_CODE_OF = {"jv": "jw", "fil": "tl", "nb": "no"}
"""CLDR's code -> Whisper's, where they differ."""

MIN_OTHER = 0.9
"""Mean probability of another language above which a recording is taken to be spoken in it. Of the 48 real
recordings in English that have enough sound, 23 of them by children, whisper-base gave no other language as much; of 80
sentences of 3 s by children with an accent, two. One in Spanish, and one in Venetian and Croatian, got more."""
MIN_SOUND_S = 5.0
"""Less sound than this says nothing of the language."""


@cache
def whisper_code(language: str) -> str:
    """Return Whisper's code for a language; a language unknown to Whisper keeps its code.

    Members of a macrolanguage map to it, for Whisper does not distinguish them: ``cmn`` (Mandarin) is ``zh``.

    Args:
        language: ISO 639-1, ISO 639-2 or ISO 639-3, BCP 47, already Whisper's code, or an English name; in either case.

    >>> [whisper_code(code) for code in ("eng", "en", "cmn", "Mandarin", "yue", "jav", "nob", "vec")]
    ['en', 'en', 'zh', 'zh', 'yue', 'jw', 'no', 'vec']
    """
    from langcodes import Language  # 0.07 s, which `--help` need not wait for
    from langcodes.tag_parser import LanguageTagError

    code = language.strip().lower()
    code = (_CODE_OF_NAME | _OTHER_NAMES).get(code, code)
    if code in WHISPER_CODES:
        return code
    try:
        macro = Language.get(code).prefer_macrolanguage().language or code
    except LanguageTagError:
        return code
    macro = _WHISPER_CODE_OF.get(macro, macro)
    return macro if macro in WHISPER_CODES else code


@cache
def chat_code(language: str) -> str:
    """Return the ISO 639-3 code that CHAT uses for a language; an unknown language keeps its code.

    Args:
        language: ISO 639-1, ISO 639-2 or ISO 639-3, BCP 47, Whisper's code, or an English name; in either case.

    >>> [chat_code(code) for code in ("en", "English", "zh", "cmn", "jw", "fre")]
    ['eng', 'eng', 'zho', 'cmn', 'jav', 'fra']
    """
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    code = language.strip().lower()
    code = (_CODE_OF_NAME | _OTHER_NAMES).get(code, code)
    if code == "tl":
        return "tgl"  # CLDR replaces Tagalog with Filipino (fil)
    try:
        tag = Language.get(code)
        is_iso_639_3 = len(code) == 3 and tag.to_alpha3("B") != code  # unlike `fre`, the bibliographic `fra`
        return code if is_iso_639_3 else tag.to_alpha3()
    except (LanguageTagError, LookupError):
        return code


def language_name(code: str) -> str:
    """Return the English name of a language that Whisper knows; of any other, its code.

    >>> language_name("deu"), language_name("en"), language_name("vec")
    ('German', 'English', 'vec')
    """
    names = {key: name.capitalize() for name, key in _CODE_OF_NAME.items()}
    return names.get(whisper_code(code), code)


def is_known(language: str) -> bool:
    """Return whether a name or a code in any of its forms means a language.

    >>> [is_known(language) for language in ("English", "en", "yue", "Englsih")]
    [True, True, True, False]
    """
    return whisper_code(language) in WHISPER_CODES or is_language(chat_code(language))


def known_code(language: str) -> str:
    """Return the ISO 639-3 code of a language that is given by its name or one of its codes.

    Raises:
        LsaWhisperError: No language is called so.
    """
    if not is_known(language):
        raise LsaWhisperError(f"language {language!r} is not known; name it, such as English, en or eng")
    return chat_code(language)


@cache
def is_language(code: str) -> bool:
    """Return whether ISO 639 has a language with this code.

    >>> [is_language(code) for code in ("eng", "zho", "xyz", "not a code")]
    [True, True, False, False]
    """
    from langcodes import tag_is_valid

    return tag_is_valid(code)


def other_language(windows: Sequence[Mapping[str, float]], languages: Sequence[str]) -> str:
    """Return the language (Whisper's code) of some windows if it is surely none of those named, else nothing.

    Args:
        windows: The probability of each language (Whisper's code) in each window.
        languages: The languages that the speech may be in; one that the model does not know proves nothing.

    >>> other_language([{"en": 0.98, "de": 0.01}, {"en": 0.94, "de": 0.03}], ["deu"])
    'en'
    >>> other_language([{"en": 0.98, "de": 0.01}, {"en": 0.4, "de": 0.5}], ["deu"])
    ''
    """
    codes = {whisper_code(language) for language in languages}
    if not windows or not codes <= windows[0].keys():
        return ""
    means = {code: sum(window[code] for window in windows) / len(windows) for code in windows[0]}
    best = max(means, key=means.__getitem__)
    return best if best not in codes and means[best] >= MIN_OTHER else ""
