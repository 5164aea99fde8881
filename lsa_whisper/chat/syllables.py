"""Syllable counts: of English, estimated from spelling, and of other languages, from the letters that stand for vowels.

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

    >>> [syllables_of(*pair) for pair in (("agua", "spa"), ("école", "fra"), ("Ameise", "deu"), ("zio", "ita"))]
    [2, 2, 3, 2]
    >>> [syllables_of(*pair) for pair in (("olifant", "nld"), ("小狗", "zho"), ("kyou", "jpn"), ("きょう", "jpn"))]
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
        nuclei = sum(sum(1 for _ in pattern.finditer(part)) for part in parts)
        if language == "ita" and _TWO_VOWELS.fullmatch(word):  # mio, zia, due: no diphthong
            nuclei += 1
        return nuclei or (1 if re.search("[aeiouyàèéêëîïôùûœ]", word) else 0)

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
"""How syllables are counted in the languages other than English that have them."""


_IRREGULAR_WORDS = {
    1: "friend hour mm hmm hm shh yeah",
    2: "being business chocolate colonel every evening family favorite maybe mhm people poem science "
    "sometimes something someone somewhere somehow wednesday",
    3: "area everyone everything idea interesting pioneer recipe somebody vegetable",
    4: "everybody usually",
}
_IRREGULAR = {word: count for count, words in _IRREGULAR_WORDS.items() for word in words.split()}
_SILENT_E_PARTS = re.compile(
    r"(?<=[bcdfgklmnprstvz])e(?=(?:body|bodies|ball|berry|boat|book|cake|case|corn|fish|fly|ful|hold|house|land|less|ly|"
    r"line|ment|ness|man|men|piece|place|port|room|some|thing|time|times|where|work|wood|ward|shop|shoe|side|way|town)$)"
)
_GROUPS = re.compile(r"[aeiouy]+")
_HIATUS = re.compile(
    r"(?<![tcs])ia(?!ge)|i(?:um|us|or|er(?=s?$))|(?<![tscgx])io|ua(?!rd|ge|y)|eo(?!ple|us)|eu(?=m$)|uou|"
    r"(?<=[aeiouy])ing$|ying|uie|cre?at|iet|oe[tm]|rea(?:l|ct)|(?<=[lr])iest$"
)
_CONTRACTION = re.compile(
    r"(?<=[dst])n't$|(?<=[tdbcfgkmnpsvz])'ll$|(?<=[td])'ve$|(?<=[td])'d$|(?<=[szx])'s$|(?<=[sc]h)'s$"
)


@lru_cache(maxsize=1 << 14)
def syllables(word: str, language: str = "eng") -> int | None:
    """Return the number of syllables of ``word``, or ``None`` if its spelling or its language (ISO 639-3) gives none.

    >>> [syllables(word) for word in ("I", "rabbit", "people", "didn't", "makes", "wanted", "going", "table")]
    [1, 2, 2, 2, 1, 2, 2, 2]
    >>> syllables("qwrt") is None, syllables("狗") is None
    (True, True)
    """
    if language != "eng":
        return syllables_of(word, language)
    word = word.lower().replace("’", "'")
    parts = [part for part in word.split("-") if part]
    if len(parts) > 1:
        counts = [syllables(part) for part in parts]
        return None if None in counts else sum(count for count in counts if count)
    word = word.strip("-'")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    letters = word.replace("'", "")
    if not (letters.isascii() and letters.isalpha()) or not _GROUPS.search(letters):
        return None
    extra = 1 if _CONTRACTION.search(word) else 0
    stem = re.sub(r"'(?:s|ll|ve|d|re|m)$|n't$", "", word).replace("'", "") or letters
    return max(_count(stem), 1) + extra


def _count(stem: str) -> int:
    if stem.startswith("y"):
        stem = "j" + stem[1:]
    stem = stem.replace("qu", "kw")
    stem = _SILENT_E_PARTS.sub("", stem)
    count = len(_GROUPS.findall(stem)) + len(_HIATUS.findall(stem))
    return count - _silent_end(stem)


def _silent_end(stem: str) -> int:
    """Return 1 if the last vowel of ``stem`` is a silent e: make, makes, baked."""
    if re.search(r"[^aeiouyl]le[sd]?$", stem):
        return 0
    if re.search(r"[^aeiouy]e$", stem):
        return 1
    if re.search(r"[aeiouy][^aeiouy]*[^aeiouyscxzg]es$", stem) and not re.search(r"(?:sh|ch)es$", stem):
        return 1
    return 1 if re.search(r"[^aeiouytd]ed$", stem) else 0
