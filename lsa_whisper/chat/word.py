"""The reading of one written word: its verbatim words, fluent words and disfluencies."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from lsa_whisper.chat.disfluencies import Disfluency, SignPlace, classes_at
from lsa_whisper.chat.filled_pauses import MARKED_FILLERS


class WordKind(StrEnum):
    """The kind of a written word, by its prefix and form marker."""

    WORD = "word"
    FILLER = "filler"
    FRAGMENT = "fragment"
    NONWORD = "nonword"
    EVENT = "event"
    OTHER_SPEAKER = "other_speaker"
    OMITTED = "omitted"
    UNTRANSCRIBED = "untranscribed"
    PHONETIC = "phonetic"


class WordDisfluency(NamedTuple):
    """A disfluency within one written word; indices refer to its verbatim words."""

    kind: Disfluency
    start: int
    end: int
    iterations: int = 1
    repair: tuple[int, int] | None = None


class WordReading(NamedTuple):
    """The reading of one written word.

    Attributes:
        kind: What the prefix and the form marker say.
        surface: CHAT for the spoken sounds alone: no form markers, no omitted sounds, no voice quality.
        verbatim: The words as spoken.
        fluent: The intended words.
        disfluencies: The disfluencies inside the word.
        marker: The form marker (``@o``) and what follows it.
    """

    kind: WordKind
    surface: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    fluent: tuple[str, ...] = ()
    disfluencies: tuple[WordDisfluency, ...] = ()
    marker: str = ""


CA_MARKS = "↑↓→↗⇗↘⇘∞≈≋≡∙∾⁑⤇⤆∆∇⁎°▁▔☺♋⁇∬∮↻⌈⌉⌊⌋„‡ˈˌ⁺⁻\x01\x02\x03\x04\x07"
"""Marks of prosody, voice quality, overlap and stress, which are not part of a word's spelling."""

_DROP_MARKS = {ord(mark): None for mark in CA_MARKS}
_GREEK_MARKS = {ord(mark): None for mark in "ΫξἩἡ"}
_OVERLAP = re.compile(r"[⌈⌉⌊⌋][0-9]?")
_UNTRANSCRIBED = {"xxx": "xxx", "xx": "xxx", "yyy": "yyy", "yy": "yyy", "www": "www"}
_SEGMENT = re.compile(r"↫([^↫]*)↫")
_PIECE = re.compile(r"(?:↫[^↫]*↫|[^+_↫])+")
_LETTER = re.compile(r"[^\W_]")
_LATIN = re.compile("[A-Za-z]")
_PARENTHESES = re.compile(r"\([^()]*\)")
_NO_BOUNDARIES = str.maketrans("", "", '!"#$%&*,./;<=>?@[\\]`{|}~')
"""Obsolete marks of stress, clitics and prefixes, and stray symbols: not part of a spoken word."""
_NO_SOUNDS = str.maketrans("", "", ":≠^")
_INNER_PREFIX = re.compile(r"(?<=.)(?=&[-+~=])")
_SLASH = re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_])")
_PREFIXES = {WordKind.FILLER: "&-", WordKind.FRAGMENT: "&+", WordKind.NONWORD: "&~"}
_KINDS = {sign[1]: kind for kind, sign in _PREFIXES.items()} | {"*": WordKind.OTHER_SPEAKER}
_KINDS |= dict.fromkeys("={}", WordKind.EVENT)
"""What the sign behind ``&`` says."""
_PREFIX_DISFLUENCIES = {kind: classes_at(SignPlace.PREFIX)[sign] for kind, sign in _PREFIXES.items()}
_AT_SOUNDS = (SignPlace.AFTER_SOUND, SignPlace.INSIDE_WORD, SignPlace.BEFORE_WORD)
_SIGN_DISFLUENCIES = {sign: kind for place in _AT_SOUNDS for sign, kind in classes_at(place).items()}


@lru_cache(maxsize=1 << 16)
def read_word(surface: str) -> WordReading:
    """Return the reading of the written word ``surface``.

    >>> read_word("↫b-b-b↫ball").verbatim
    ('b-', 'b-', 'b-', 'ball')
    >>> read_word("(be)cause").verbatim, read_word("(be)cause").fluent
    (('cause',), ('because',))
    >>> read_word("&-you_kno:w@q").surface
    ('&-you_kno:w',)
    >>> read_word("dog&-um").surface
    ('dog', '&-um')
    """
    kind, body = _kind_of(surface)
    if kind in (WordKind.EVENT, WordKind.OTHER_SPEAKER, WordKind.OMITTED):
        return WordReading(kind)
    if _INNER_PREFIX.search(surface):
        return _joined([read_word(part) for part in _INNER_PREFIX.split(surface)])
    plain, marker = _without_marker(_without_marks(body))
    if kind is WordKind.WORD and plain.lower() in _UNTRANSCRIBED:
        word = (_UNTRANSCRIBED[plain.lower()],)
        return WordReading(WordKind.UNTRANSCRIBED, word, word, word)
    if marker.startswith("@u"):
        kind = WordKind.PHONETIC
    elif marker.startswith("@fp"):
        kind = WordKind.FILLER
    return _spell(kind, plain)._replace(marker=marker)


def _joined(parts: list[WordReading]) -> WordReading:
    """Return the reading of words written without a space between them; their kind, if it is one, or ``word``."""
    kinds = {part.kind for part in parts if part.verbatim} or {parts[0].kind}
    surface: list[str] = []
    verbatim: list[str] = []
    fluent: list[str] = []
    disfluencies: list[WordDisfluency] = []
    for part in parts:
        at = len(verbatim)
        for event in part.disfluencies:
            repair = event.repair and (at + event.repair[0], at + event.repair[1])
            disfluencies.append(WordDisfluency(event.kind, at + event.start, at + event.end, event.iterations, repair))
        surface += part.surface
        verbatim += part.verbatim
        fluent += part.fluent
    kind = kinds.pop() if len(kinds) == 1 else WordKind.WORD
    return WordReading(kind, tuple(surface), tuple(verbatim), tuple(fluent), tuple(disfluencies))


def _kind_of(surface: str) -> tuple[WordKind, str]:
    if surface[0] == "0":
        return (WordKind.OMITTED if len(surface) == 1 or not surface[1].isdigit() else WordKind.WORD), surface
    if surface[0] != "&" or len(surface) == 1:
        return WordKind.WORD, surface
    if kind := _KINDS.get(surface[1]):
        return kind, surface[2:]
    legacy = surface[1:]
    is_filler = normalize("NFC", _without_marks(legacy).replace(":", "").lower()) in MARKED_FILLERS
    return WordKind.FILLER if is_filler else WordKind.FRAGMENT, legacy


def _without_marks(body: str) -> str:
    if body.isascii() and body.isprintable():  # underlining is written with control characters
        return body
    body = _OVERLAP.sub("", body).translate(_DROP_MARKS).replace("’", "'").replace("‘", "'")
    if _LATIN.search(body):  # in Greek text these are letters
        body = body.translate(_GREEK_MARKS)
    return body


def _without_marker(body: str) -> tuple[str, str]:
    """Split ``dog@s:spa$n`` into the word and its markers."""
    cut = min((at for at in (body.find("@", 1), body.find("$", 1)) if at > 0), default=-1)
    return (body, "") if cut < 0 else (body[:cut], body[cut:])


def _spell(kind: WordKind, body: str) -> WordReading:
    body = _SLASH.sub("_", body).translate(_NO_BOUNDARIES)
    if body.count("↫") % 2:
        body = body[: body.rindex("↫")] + body[body.rindex("↫") + 1 :]
    pieces = [piece for part in _PIECE.findall(_drop_omitted(body)) if (piece := _tidy(part))]
    verbatim: list[str] = []
    disfluencies: list[WordDisfluency] = []
    for piece in pieces:
        _sounds(piece, verbatim, disfluencies)
    if not verbatim:  # no spoken sound, hence no word; a word wholly in parentheses counts as spoken
        return WordReading(kind)
    if kind in _PREFIXES:
        if kind is WordKind.FRAGMENT:
            verbatim = [f"{word.rstrip('-')}-" for word in verbatim]
        surface: tuple[str, ...] = (_PREFIXES[kind] + "_".join(pieces),)
        whole = WordDisfluency(_PREFIX_DISFLUENCIES[kind], 0, len(verbatim))
        return WordReading(kind, surface, tuple(verbatim), (), (whole, *disfluencies))
    return WordReading(kind, tuple(pieces), tuple(verbatim), _fluent_words(body), tuple(disfluencies))


def _drop_omitted(body: str) -> str:
    """Drop omitted sounds in parentheses; a word wholly in parentheses is uncertain but spoken."""
    if "(" not in body:
        return body.replace(")", "")
    surface = _PARENTHESES.sub("", body)
    surface = surface if _LETTER.search(surface) else body
    return surface.replace("(", "").replace(")", "")


def _fluent_words(body: str) -> tuple[str, ...]:
    body = _SEGMENT.sub("", body).translate(_NO_SOUNDS).replace("(", "").replace(")", "")
    words = (part.strip("-") for part in body.replace("+", "_").split("_"))
    return tuple(word for word in words if _LETTER.search(word))


def _tidy(piece: str) -> str:
    """Return ``piece`` in current CHAT, or an empty string if it has no sound."""
    piece = piece.strip("-")
    if piece[:1] == "^":
        piece = "≠" + piece[1:]
    return piece if _LETTER.search(_SEGMENT.sub("", piece)) else piece.replace("↫", "") if _LETTER.search(piece) else ""


def _sounds(piece: str, verbatim: list[str], disfluencies: list[WordDisfluency]) -> None:
    """Append the words spoken for ``piece``, and the disfluencies in it."""
    at = len(verbatim)
    word = piece.translate(_NO_SOUNDS)
    first = _SEGMENT.match(word)
    if "↫" in word:
        if first:
            verbatim.extend(f"{part}-" for part in first.group(1).split("-") if part)
            word = word[first.end() :]
        verbatim.append(word.replace("↫", "-").strip("-"))
        _part_words(piece, at, len(verbatim), disfluencies, initial=first is not None)
    else:
        verbatim.append(word)
    if word is not piece:
        end = len(verbatim)
        for sign, disfluency in _SIGN_DISFLUENCIES.items():
            if sign in piece:
                disfluencies.append(WordDisfluency(disfluency, at, end))


def _part_words(piece: str, start: int, end: int, disfluencies: list[WordDisfluency], *, initial: bool) -> None:
    for number, match in enumerate(_SEGMENT.finditer(piece)):
        iterations = 1 + match.group(1).count("-")
        if number == 0 and initial and end - start > 1:
            disfluencies.append(
                WordDisfluency(Disfluency.PART_WORD_REPETITION, start, end - 1, iterations, (end - 1, end))
            )
        else:
            disfluencies.append(WordDisfluency(Disfluency.PART_WORD_REPETITION, end - 1, end, iterations))
