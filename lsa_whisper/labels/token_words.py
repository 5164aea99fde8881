"""Which word of an utterance each token of its label belongs to.

A label is written in signs of its own, so letters are compared: the letters of the tokens with those of the words that
are spoken. Here too: ids of tokens that must not be suppressed in decoding, and how many tokens a label has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from typing import Any

from lsa_whisper.chat.codes import SPEAKER_CODE
from lsa_whisper.labels.canonical import LABEL_TERMINATORS
from lsa_whisper.labels.notation import LABEL_ENDINGS, LABEL_SYMBOLS
from lsa_whisper.labels.style import Labels

_ONSETS = frozenset({"=", "≠", ":"})
"""Signs of a block and of a prolonged first sound: the word begins there, before its letters."""
_SPEAKER_CODE = re.compile(rf"\*{SPEAKER_CODE.pattern}:")
_NO_LETTERS = re.compile(r"[^a-z0-9]+")
_NOT_SPOKEN = re.compile(rf"{_SPEAKER_CODE.pattern}|&=\S+")
"""Speaker codes and audible events: letters in a label that are not spoken."""


def words_of_tokens(texts: Sequence[str], words: Sequence[str]) -> list[tuple[int, bool]]:
    """Return the index of each token's word, and whether the word is heard there.

    Punctuation and signs belong to the word before them, or to the first word; signs of a block or a prolongation to
    the word that begins with it. A space in the text of a token begins a word; the words are as they are spoken.

    >>> words_of_tokens([" um", " go", "at", "."], ["um", "goat"])
    [(0, True), (1, True), (1, True), (1, False)]
    """
    places = _words_in_tokens(texts, words)
    result, last = [], 0
    for at in range(len(texts)):
        last = max([last, *places.get(at, ())[:1]])
        result.append((last, at in places))
    return result


def begins_word(texts: Sequence[str]) -> list[bool]:
    """Return whether a spoken word begins with each token; in text without spaces any token may begin one.

    >>> begins_word([" =", " go", "at", " /", " um", "."])
    [True, False, False, False, True, False]
    """
    if not any(text.startswith(" ") for text in texts):
        return [True] * len(texts)
    onsets = [is_onset(text) or (text.startswith(" ") and bool(letters_of(text))) for text in texts]
    return [onset and not (at and is_onset(texts[at - 1])) for at, onset in enumerate(onsets)]


def is_onset(text: str) -> bool:
    """Return whether a token is the sign of a block or of a prolonged first sound: the next word begins with it."""
    return text.startswith(" ") and text.strip() in _ONSETS


def _words_in_tokens(texts: Sequence[str], words: Sequence[str]) -> dict[int, list[int]]:
    """Return the words that are heard in each token, in order; a token may stand for several copies of a sound."""
    from rapidfuzz.distance import Indel

    letters = ""
    token_of: list[int] = []
    for at, own in enumerate(_spoken_letters(texts)):
        letters, token_of = letters + own, token_of + [at] * len(own)
    word_letters = "".join(map(letters_of, words))
    word_of = [at for at, word in enumerate(words) for _ in letters_of(word)]
    places: dict[int, list[int]] = {}
    for part in Indel.opcodes(letters, word_letters):
        if part.tag == "equal":
            for source in range(part.src_start, part.src_end):
                places.setdefault(token_of[source], []).append(word_of[part.dest_start + source - part.src_start])
    for at in range(len(texts) - 1, 0, -1):
        if is_onset(texts[at - 1]) and at in places:
            places[at - 1] = places[at][:1]
    return places


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """Where a token is heard: from a part of one word to a part of the same word, or of a later one.

    Attributes:
        first: Index of the word where the token begins.
        start: How much of that word is before the token, from 0 to 1.
        last: Index of the word where it ends.
        end: How much of that word is before its end.
    """

    first: int
    start: float
    last: int
    end: float


def token_places(texts: Sequence[str], words: Sequence[str]) -> list[TokenPlace | None]:
    """Return where each token is heard, ``None`` where no word is.

    Letters are spread evenly over a word; a sign without letters counts as one letter.

    >>> token_places([" go", "at", "."], ["goat"])
    [TokenPlace(first=0, start=0.0, last=0, end=0.5), TokenPlace(first=0, start=0.5, last=0, end=1.0), None]
    """
    by_token = _words_in_tokens(texts, words)
    sizes = [0] * len(words)
    spans: dict[int, tuple[tuple[int, int], tuple[int, int]]] = {}
    for at in sorted(by_token):
        first, last = by_token[at][0], by_token[at][-1]
        start = sizes[first]
        for word in dict.fromkeys(by_token[at]):
            sizes[word] += max(1, len(letters_of(texts[at]))) if first == last else 1
        spans[at] = (first, start), (last, sizes[last])
    places: list[TokenPlace | None] = [None] * len(texts)
    for at, ((first, start), (last, end)) in spans.items():
        places[at] = TokenPlace(first, start / sizes[first], last, end / sizes[last])
    return places


def _spoken_letters(texts: Sequence[str]) -> Iterator[str]:
    """Yield the letters that each token stands for; ``b~~`` are two copies, so its second ``~`` is another ``b``.

    >>> list(_spoken_letters([" a", " b", "~~", " ball", " ~", "like"]))
    ['a', 'b', 'b', 'ball', '', 'like']
    """
    part, copies = "", 0
    for text in without_codes(texts):
        if text.startswith(" "):
            part, copies = "", 0
        own, signs = letters_of(text), text.count("~")
        yield own or part * (max(0, copies + signs - 1) - max(0, copies - 1))
        part, copies = part + own, copies + signs


def without_codes(texts: Sequence[str]) -> list[str]:
    """Return the texts without the letters of speaker codes and audible events.

    >>> without_codes([" *", "CHI", ":", " no", "."])
    [' ', '', '', ' no', '.']
    """
    inside = _matched(_NOT_SPOKEN, texts)
    return [
        "".join(letter for letter, silent in zip(text, places, strict=True) if not silent)
        for text, places in zip(texts, inside, strict=True)
    ]


def in_speaker_code(texts: Sequence[str]) -> list[bool]:
    """Return whether each token is a part of a speaker code, and therefore not heard at any time.

    >>> in_speaker_code(["", " *", "CHI", ":", " no", "."])
    [False, True, True, True, False, False]
    >>> in_speaker_code([" *F", "_A_T:", " *Theo:"])
    [True, True, True]
    """
    return [any(places) for places in _matched(_SPEAKER_CODE, texts)]


def _matched(pattern: re.Pattern[str], texts: Sequence[str]) -> list[list[bool]]:
    """Return for each character of each text whether it belongs to a match in all texts together."""
    whole = "".join(texts)
    inside = {place for match in pattern.finditer(whole) for place in range(*match.span())}
    ends = list(accumulate(map(len, texts), initial=0))
    return [[place in inside for place in range(first, last)] for first, last in pairwise(ends)]


def letters_of(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case, one for each (``İ`` has two in lower case).

    >>> letters_of(" Don't")
    'dont'
    """
    if text.isascii():
        return _NO_LETTERS.sub("", text.lower())
    return "".join(letter.lower()[0] for letter in text if letter.isalnum())


_RUNS = ("&-", "&+", "&~", "&=", "[/]", "[//]", "[///]", "[/-]", "<", ">", "↫", "≠", "^", ":", "_", "-", "'")
_PAUSES = ("(.)", "(..)", "(...)")
_OPENING = ("<", "&-", "&+", "&~", "&=", "≠", "↫")
_CLOSING = (":", "↫", ">")
_BEHIND = ("-", "'", "_", "~", "~~", "~~~")


def characters(labels: Labels) -> set[str]:
    """Return the strings, besides words, that a label can contain.

    Later versions of the notation may fall back to CHAT's own codes, so they include those of version 1.

    >>> sorted(characters(Labels("fluent")))
    ['!', "'", '-', '.', '?']
    """
    if labels.style == "chat":
        strings = {*_RUNS, *_PAUSES, *LABEL_TERMINATORS}
        strings |= {"".join(pair) for pair in product(_OPENING, _OPENING)}
        strings |= {"".join(pair) for pair in product(_CLOSING, _CLOSING)}
        if labels.version > 1:
            strings |= {*LABEL_SYMBOLS, *LABEL_ENDINGS, *_BEHIND}
            strings |= {"".join(pair) for pair in product(("", *_BEHIND[:3]), LABEL_ENDINGS)}
            strings |= {"".join(pair) for pair in product(LABEL_SYMBOLS, _OPENING)}
    else:
        strings = {".", "?", "!", "'", "-"}
    return strings | ({"*", ":"} if labels.roles else set())


def tokens_to_allow(tokenizer: Any, labels: Labels) -> set[int]:
    """Return the token ids that ``suppress_tokens`` must not contain, for any Whisper tokenizer.

    Whisper's byte-pair merges never join punctuation with letters, so every id in a label occurs in one of
    :func:`characters`, with or without a leading space.
    """
    allowed: set[int] = set()
    for run in characters(labels):
        for text in (run, f" {run}"):
            allowed.update(tokenizer.encode(text, add_special_tokens=False))
    return allowed


def tokens_at_most(text: str) -> int:
    """Return an estimate of the tokens of ``text`` with two timestamps; the true count is almost never higher.

    >>> tokens_at_most("&-um I want [/] want it .") >= 12
    True
    """
    pieces = 0
    for word in text.split():
        letters = sum(char.isascii() and char.isalnum() for char in word)
        others = len(word.encode()) - letters
        pieces += -(-letters // 3) + others
    return pieces + 3
