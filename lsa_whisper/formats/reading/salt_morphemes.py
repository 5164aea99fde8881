"""Words that SALT writes with their bound morphemes apart (``carry/ed``), as they are spelled."""

from __future__ import annotations

import re

_VOWELS = "aeiou"
_DOUBLED = re.compile(r"[^aeiou][aeiou][bdgklmnprt]$")
_CONTRACTIONS = {
    "n't": "n't",
    "'t": "n't",
    "'ll": "'ll",
    "'m": "'m",
    "'d": "'d",
    "'re": "'re",
    "'s": "'s",
    "'ve": "'ve",
    "'us": "'s",
    "h's": "'s",
    "h'd": "'d",
    "h've": "'ve",
    "d'd": "'d",
    "d's": "'s",
}
_IRREGULAR = {"can/'t": "can't", "ca/n't": "can't", "wo/n't": "won't", "do/'nt": "don't", "are/'nt": "aren't"}


def join_morphemes(word: str) -> str:
    """Return ``word`` without slashes, spelled as in English.

    >>> [join_morphemes(word) for word in ("dog/s", "baby/s", "carry/ed", "run/ing", "make/ing", "go/3s", "mom/z")]
    ['dogs', 'babies', 'carried', 'running', 'making', 'goes', "mom's"]
    >>> [join_morphemes(word) for word in ("do/n't", "he/'s", "let/'us", "dog/s/z", "kick/ed", "fall/en")]
    ["don't", "he's", "let's", "dogs'", 'kicked', 'fallen']
    """
    if "/" not in word:
        return word
    if word.casefold() in _IRREGULAR:
        return _IRREGULAR[word.casefold()]
    root, *morphemes = word.split("/")
    for morpheme in morphemes:
        root = _joined(root, morpheme)
    return root


def _joined(root: str, morpheme: str) -> str:
    form = morpheme.casefold()
    if form in _CONTRACTIONS:
        return f"{root}{_CONTRACTIONS[form]}"
    if form == "z":
        return f"{root}'" if root.endswith("s") else f"{root}'s"
    if form in ("s", "3s"):
        return _with_s(root)
    if form in ("ed", "en", "ing", "er", "est"):
        return _with_suffix(root, form)
    return f"{root}{morpheme}"


def _with_s(root: str) -> str:
    if root.endswith("y") and root[-2:-1] not in _VOWELS:
        return f"{root[:-1]}ies"
    return f"{root}es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", root) else f"{root}s"


def _with_suffix(root: str, suffix: str) -> str:
    if root.endswith("e") and not (suffix == "ing" and re.search(r"(?:ee|oe|ye)$", root)):
        return f"{root[:-1]}{suffix}"
    if root.endswith("y") and root[-2:-1] not in _VOWELS and suffix != "ing":
        return f"{root[:-1]}i{suffix}"
    if len(root) <= 4 and _DOUBLED.search(root):
        return f"{root}{root[-1]}{suffix}"
    return f"{root}{suffix}"
