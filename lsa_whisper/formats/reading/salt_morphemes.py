"""Words that SALT writes with their bound morphemes apart (``carry/ed``), as they are spelled."""

from __future__ import annotations

import re

_VOWELS = "aeiou"
_DOUBLED = re.compile(r"[^aeiou][aeiou][bdgklmnprt]$")
_CONTRACTIONS = {
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
_NEGATIONS = ("n't", "'nt", "'t", "nt")
_NEGATED = {"can": "can't", "ca": "can't", "will": "won't", "wo": "won't", "shall": "shan't", "sha": "shan't"}
_INFLECTIONS = ("ed", "en", "ing", "er", "est", "y")
_DERIVATIONS = ("ly", "ness", "ful", "less", "ment")


def join_morphemes(word: str) -> str:
    """Return ``word`` without slashes, spelled as in English.

    >>> [join_morphemes(word) for word in ("dog/s", "baby/s", "carry/ed", "run/ing", "make/ing", "go/3s", "mom/z")]
    ['dogs', 'babies', 'carried', 'running', 'making', 'goes', "mom's"]
    >>> [join_morphemes(word) for word in ("do/n't", "he/'s", "let/'us", "dog/s/z", "kick/ed", "fall/en", "can/'nt")]
    ["don't", "he's", "let's", "dogs'", 'kicked', 'fallen', "can't"]
    >>> [join_morphemes(word) for word in ("mud/y", "gentle/ly", "happy/ly", "full/ly", "kid/'z", "noise/y", "big/est")]
    ['muddy', 'gently', 'happily', 'fully', "kid's", 'noisy', 'biggest']
    >>> join_morphemes("GO/3S"), join_morphemes("I/'ll")
    ('GOES', "I'll")
    """
    root, *morphemes = word.split("/")
    capital = len(root) > 1 and root.isupper()
    root = root.lower() if capital else root
    for morpheme in morphemes:
        root = _joined(root, morpheme)
    return root.upper() if capital else root


def _joined(root: str, morpheme: str) -> str:
    form = morpheme.casefold()
    if form in _NEGATIONS:
        return _negated(root)
    if form in _CONTRACTIONS:
        return f"{root}{_CONTRACTIONS[form]}"
    if form in ("z", "'z", "s'", "z'"):
        return f"{root}'" if root.endswith("s") else f"{root}s'" if form == "s'" else f"{root}'s"
    if form in ("s", "3s", "es"):
        return _with_s(root)
    if form in _INFLECTIONS:
        return _with_inflection(root, form)
    return _derived(root, form) if form in _DERIVATIONS else f"{root}{morpheme}"


def _negated(root: str) -> str:
    known = _NEGATED.get(root.casefold())
    if known:
        return root[0] + known[1:]
    return f"{root}'t" if root.casefold().endswith("n") else f"{root}n't"


def _with_s(root: str) -> str:
    if root.endswith("y") and root[-2:-1] not in _VOWELS:
        return f"{root[:-1]}ies"
    return f"{root}es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", root) else f"{root}s"


def _with_inflection(root: str, suffix: str) -> str:
    if root.endswith("e") and not (suffix == "ing" and re.search(r"(?:ee|oe|ye)$", root)):
        return f"{root[:-1]}{suffix}"
    if root.endswith("y") and root[-2:-1] not in _VOWELS and suffix != "ing":
        return f"{root[:-1]}i{suffix}"
    if len(root) <= 4 and _DOUBLED.search(root):
        return f"{root}{root[-1]}{suffix}"
    return f"{root}{suffix}"


def _derived(root: str, suffix: str) -> str:
    """Return ``root`` with *-ly*, *-ness* and the like: *gently*, *truly*, *fully*, *happiness*."""
    if suffix == "ly":
        if root.endswith("le") and root[-3:-2] not in _VOWELS:
            return f"{root[:-1]}y"
        if root.endswith(("ll", "ue")):
            return f"{root[:-1]}ly"
    if root.endswith("y") and root[-2:-1] not in _VOWELS and len(root) > 3:
        return f"{root[:-1]}i{suffix}"
    return f"{root}{suffix}"
