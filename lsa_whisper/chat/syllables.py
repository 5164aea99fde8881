"""Syllable counts, estimated from spelling; those of other languages are in :mod:`lsa_whisper.chat.vowel_letters`."""

from __future__ import annotations

import re
from functools import lru_cache

from lsa_whisper.chat.vowel_letters import syllables_of

_IRREGULAR = {
    "area": 3,
    "being": 2,
    "business": 2,
    "chocolate": 2,
    "colonel": 2,
    "every": 2,
    "everybody": 4,
    "everyone": 3,
    "everything": 3,
    "evening": 2,
    "family": 2,
    "favorite": 2,
    "friend": 1,
    "hour": 1,
    "idea": 3,
    "interesting": 3,
    "maybe": 2,
    "mm": 1,
    "hmm": 1,
    "hm": 1,
    "mhm": 2,
    "people": 2,
    "pioneer": 3,
    "poem": 2,
    "recipe": 3,
    "science": 2,
    "shh": 1,
    "sometimes": 2,
    "something": 2,
    "someone": 2,
    "somebody": 3,
    "somewhere": 2,
    "somehow": 2,
    "usually": 4,
    "vegetable": 3,
    "wednesday": 2,
    "yeah": 1,
}
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
