"""Repeated sounds and words as speech recognizers spell them, with hyphens: *St-st-stop*, *I-I-I want*."""

from __future__ import annotations

_PREFIXES = frozenset(["anti", "counter", "e", "mini", "multi", "no", "non", "semi", "super"])
_COMPOUND_LIST = """
    b-ball co-coach co-conspirator co-conspirators co-constructed co-construire co-contributor co-coordinator co-counsel
    d-day re-read re-reading re-reads re-record re-recorded re-register re-release re-released re-render re-rent
    re-report re-review s-shaped t-table t-test
"""
_COMPOUNDS = frozenset(_COMPOUND_LIST.split())
"""Whole words that begin with their own first sounds, as all words do that begin with one of the prefixes twice."""
_WORDS = {
    "eng": "a and but he i i'm if in is it it's my of she so that the they this to was we what when you",
    "deu": "aber das der die er es ich ist sie und wir",
    "fra": "c'est de et il je la le les on un une",
    "spa": "de el en es la los que un una y yo",
    "ita": "che di e è il io la ma un una",
    "por": "a de e ela ele eu não o que um uma",
    "nld": "de die een en het ik je maar",
}
_FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()}
"""Words that hyphens join only where they are repeated; *bye-bye* and *so-so* are words."""


def with_repeated_parts(word: str, language: str) -> str:
    """Return a part-word repetition as CHAT writes it, and a word with its copies apart; any other word as it is.

    >>> [with_repeated_parts(word, "eng") for word in ("st-st-stop", "b-b-ball", "th-the", "I-I-I'm", "re-read")]
    ['↫st-st↫stop', '↫b-b↫ball', '↫th↫the', "I I I'm", 're-read']
    """
    if "-" not in word[1:-1] or word[0] == "&" or "↫" in word:
        return word
    *parts, last = word.split("-")
    lowered = [part.casefold() for part in parts]
    whole = last.casefold()
    is_copied = set(lowered) == {lowered[0]} and (whole == lowered[0] or whole.startswith(f"{lowered[0]}'"))
    if is_copied and lowered[0] in _FUNCTION_WORDS.get(language, frozenset()):
        return " ".join([*parts, last])
    if not all(part and part.isalpha() and len(part) < len(last) and whole.startswith(part) for part in lowered):
        return word
    if len(parts) == 1 and (lowered[0] in _PREFIXES or word.casefold() in _COMPOUNDS):
        return word
    return f"↫{'-'.join(_like(part, last) for part in parts)}↫{last}"


def _like(part: str, word: str) -> str:
    """Return ``part`` with a capital only if ``word`` has one: *St-st-stop* begins a sentence."""
    return part if word[:1].isupper() else part.lower()
