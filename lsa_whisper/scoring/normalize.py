"""Normalization: from spoken words to the words that are compared.

Conventions (in this order):

- Unicode NFKC, case folded; every apostrophe is ``'``; apostrophes at the edge of a word go (``'cause`` = ``cause``).
- A hyphen at the END of a word is kept: it marks a cut-off word, so ``fr-`` is not ``fr``. Dashes are not hyphens.
- A hyphen inside a word separates words (``ice-cream`` = ``ice cream``); parts that begin the last part are sounds
  repeated before it (``b-b-ball`` = ``b- b- ball``).
- Everything that is neither a letter, a digit nor a combining mark separates words, or is dropped at their edge.
- In scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), each character is a word.
- Fillers are folded to ``um``, ``uh`` and ``mm`` (or left ``raw``). ``mhm`` and ``uhhuh`` (yes) are words, no fillers.

Whisper's own normalizer is never used: it deletes ``um uh hmm mm mhm``, so nothing scored through it sees a filler.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Fillers = Literal["folded", "raw"]

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ‛`´′＇", "'") | dict.fromkeys("‐‑", "-"))
_FILLERS = (
    (re.compile(r"u+h*m+|e+r+m+|e+h+m+"), "um"),
    (re.compile(r"u+h+|e+r+"), "uh"),
    (re.compile(r"m{2,}|h+m+"), "mm"),
)
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED += "\U00020000-\U0003134f"
_CHARACTER = re.compile(rf"[{_UNSPACED}][\u0300-\u036f\u3099\u309a]*-?|[^{_UNSPACED}]+")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_ANSWERS = {
    **dict.fromkeys(("mhm", "mmhm", "mm-hm", "mm-hmm", "m-hm", "mhmm"), "mhm"),
    **dict.fromkeys(("uhhuh", "uh-huh"), "uhhuh"),
    **dict.fromkeys(("uhoh", "uh-oh"), "uhoh"),
    **dict.fromkeys(("nuhuh", "nuh-uh"), "nuhuh"),
}


def normalize(words: Iterable[str], *, fillers: Fillers = "folded") -> list[str]:
    """Return the comparable words of ``words``, in order; a word may become none, one or several.

    >>> normalize(["I", "don’t,", "&", "fr-", "Hmm", "uhm", "merry-go-round", "b-b-ball"])
    ['i', "don't", 'fr-', 'mm', 'um', 'merry', 'go', 'round', 'b-', 'b-', 'ball']
    >>> normalize(["Hmm", "uhm"], fillers="raw")
    ['hmm', 'uhm']
    """
    return [part for word in words for part in normalize_word(word, fillers)]


@lru_cache(maxsize=1 << 16)
def normalize_word(word: str, fillers: Fillers = "folded") -> tuple[str, ...]:
    """Return the comparable words one written ``word`` stands for.

    >>> normalize_word("uh-huh"), normalize_word("..."), normalize_word("ERM")
    (('uhhuh',), (), ('um',))
    >>> normalize_word("小狗"), normalize_word("T恤"), normalize_word("uhm'狗")
    (('小', '狗'), ('t', '恤'), ('um', '狗'))
    """
    text = unicodedata.normalize("NFKC", word.translate(_APOSTROPHES)).casefold()
    spaced = "".join(c if c in "'-" or c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in text)
    parts = tuple(part for token in spaced.split() for part in _unhyphenated(token, fillers))
    if not is_unspaced(text):
        return parts
    chunks = [chunk for part in parts for chunk in _CHARACTER.findall(part)]
    # What stood between characters of such a script now stands alone, so its edges and fillers are normalized again.
    return tuple(part for run in chunks for part in ([run] if is_unspaced(run) else normalize_word(run, fillers)))


def is_unspaced(text: str) -> bool:
    """Return whether ``text`` has characters of a script without spaces, each of which is scored as a word.

    >>> is_unspaced("I want"), is_unspaced("我 要")
    (False, True)
    """
    return not text.isascii() and _HAS_UNSPACED.search(text) is not None


def _unhyphenated(token: str, fillers: Fillers) -> Iterable[str]:
    """Yield the words of one hyphenated token; a piece that begins the last one keeps its hyphen."""
    if token.strip("-'") in _ANSWERS:
        yield _ANSWERS[token.strip("-'")]
        return
    cut = token.rstrip("'").endswith("-")
    pieces = [piece for piece in (p.strip("'") for p in token.split("-")) if piece]
    for number, piece in enumerate(pieces, 1):
        last = pieces[-1]
        begins = last.startswith(piece) and (piece != last or cut)
        if (number == len(pieces) and cut) or (number < len(pieces) and begins):
            yield piece + "-"
        else:
            yield _fold(piece) if fillers == "folded" else piece


def _fold(word: str) -> str:
    """Return the one spelling all spellings of a filler share; other words come back as they are."""
    return next((spelling for pattern, spelling in _FILLERS if pattern.fullmatch(word)), word)
