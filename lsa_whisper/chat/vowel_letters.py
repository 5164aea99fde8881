"""Syllable counts of languages other than English, from the letters or characters that stand for vowels.

Hyphenation dictionaries do not serve here: typography allows fewer breaks than there are syllables (Spanish *agua*).
Languages that write no vowels, such as Hebrew, have no counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

_NUCLEI = {
    "spa": r"[aeoáéíóú]|(?<![aeoáéíóú])(?:(?<![qg])[iuüy]|(?<=g)u(?![eiéí])){1,2}(?![aeoáéíóúiuüy])",
    "ita": r"[aeoàèéìòóù]|(?<![aeoàèéìòóù])(?<!q)[iu]{1,2}(?![aeoàèéìòóù])",
    "fra": r"é(?=[aeiouâêîôû])|[ëï]|(?!es?$)[aeiouyàâæèéêîôœùûü]+",
    "deu": r"aa|ee|oo|ie|ei|ai|ey|ay|au|eu|äu|[aeiouyäöü]",
    "nld": r"aai|ooi|oei|eeu|ieu|aa|ee|oo|uu|ie|oe|eu|ui|ij|ei|au|ou|[aeiouyáéèëïóöü]",
}
"""What each syllable has one of: vowels, with the letters that are one vowel together and those that are silent."""

_NUCLEUS = {language: re.compile(pattern) for language, pattern in _NUCLEI.items()}
_TWO_VOWELS = re.compile(r"[^aeiou]*[iu][aeo]")
_HAN = re.compile(r"[㐀-䶿一-鿿豈-﫿\U00020000-\U0003134f]")
_TONE = re.compile(r"[^\W\d_]+[1-6]")
_PINYIN = re.compile(r"[aeiouüvāáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]+")
_KANA = re.compile(r"[ぁ-ゖァ-ヺー]+")
_SMALL_KANA = re.compile(r"[ぁぃぅぇぉゃゅょゎァィゥェォャュョヮ]")
_ROMAJI_MORA = re.compile(r"[aeiou]|n(?![aeiouy])|([^aeioun])(?=\1)")
_LONG_ROMAJI = str.maketrans({"ā": "aa", "ē": "ee", "ī": "ii", "ō": "oo", "ū": "uu"})


@lru_cache(maxsize=1 << 14)
def syllables_of(word: str, language: str) -> int | None:
    """Return the number of syllables of ``word``, or ``None`` if its spelling or its language gives none.

    Args:
        word: One word; part words and marks are not allowed.
        language: ISO 639-3. Japanese is counted in morae, the unit of its rhythm.

    >>> [syllables_of(*one) for one in (("agua", "spa"), ("école", "fra"), ("Ameise", "deu"), ("zio", "ita"))]
    [2, 2, 3, 2]
    >>> [syllables_of(*one) for one in (("olifant", "nld"), ("小狗", "zho"), ("kyou", "jpn"), ("きょう", "jpn"))]
    [3, 2, 2, 2]
    >>> syllables_of("כלב", "heb") is None, syllables_of("犬", "jpn") is None
    (True, True)
    """
    counter = _COUNTERS.get(language)
    count = counter(word.casefold()) if counter else 0
    return count or None


def _count_nuclei(language: str) -> Callable[[str], int]:
    pattern = _NUCLEUS[language]

    def count(word: str) -> int:
        parts = [part for part in re.split(r"[-'’]", word) if any(map(str.isalpha, part))]
        found = sum(sum(1 for _ in pattern.finditer(part)) for part in parts)
        if language == "ita" and _TWO_VOWELS.fullmatch(word):  # mio, zia, due: no diphthong
            found += 1
        return found or (1 if re.search("[aeiouyàèéêëîïôùûœ]", word) else 0)

    return count


def _chinese(word: str) -> int:
    return len(_HAN.findall(word)) or len(_TONE.findall(word)) or len(_PINYIN.findall(word))


def _japanese(word: str) -> int:
    if _KANA.fullmatch(word):
        return len(word) - len(_SMALL_KANA.findall(word))
    romaji = word.translate(_LONG_ROMAJI)
    return sum(1 for _ in _ROMAJI_MORA.finditer(romaji)) if romaji.isascii() else 0


_COUNTERS: dict[str, Callable[[str], int]] = {
    **{language: _count_nuclei(language) for language in _NUCLEI},
    **dict.fromkeys(("zho", "cmn", "yue"), _chinese),
    "jpn": _japanese,
}
SYLLABLE_LANGUAGES = ("eng", *_COUNTERS)
"""The languages whose syllables are counted."""
