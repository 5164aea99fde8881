"""From a fluent sentence to a disfluent plan: the CHAT tier, and instructions for the voice for each word."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .grammar import alternative, sentence, vocabulary

SHORT_PAUSE_MS, LONG_PAUSE_MS = 400, 900
"""The lengths that ``(.)`` and ``(..)`` stand for in this corpus."""

FILLERS = ("um", "uh")
_VOWELS = "aeiouy"
_SINGLE_SOUNDS = {"sh": 1, "th": 1, "ch": 1, "wh": 1, "kn": 1}
_STRETCHABLE = "smnlf"


@dataclass(frozen=True)
class Piece:
    """One word to speak, and how it is changed.

    Attributes:
        say: The word the voice speaks, whole.
        words: What is heard, in the spelling of ``Utterance.verbatim()``.
        onset_sounds: Keep only this many first sounds (a fragment), 0 keeps the word.
        copies: How often those first sounds come before the whole word (a part-word repetition).
        stretch_ms: How long the first sound is held (a prolongation), 0 leaves it.
        block_ms: How long the word sticks before it bursts out, 0 if it does not.
        drawl: How many times as long as usual the whole word lasts.
        gap_ms: Silence after the word.
    """

    say: str
    words: tuple[str, ...]
    onset_sounds: int = 0
    copies: int = 0
    stretch_ms: int = 0
    block_ms: int = 0
    drawl: float = 1.0
    gap_ms: int = 0


@dataclass(frozen=True)
class Plan:
    """A main tier without its bullet, and the pieces of speech it consists of, in order."""

    chat: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Fluency:
    """Rate of each class of disfluency per word position; all other positions are fluent."""

    filler: float = 0.08
    repetition: float = 0.06
    phrase_repetition: float = 0.025
    revision: float = 0.03
    fragment: float = 0.02
    part_word: float = 0.04
    prolongation: float = 0.045
    block: float = 0.025
    pause: float = 0.03
    false_start: float = 0.006
    abandoned: float = 0.015


def plan(symbol: str, fluency: Fluency, rng: np.random.Generator) -> Plan:
    """Return a sentence of rule ``symbol`` with disfluencies drawn at the rates of ``fluency``."""
    words, terminator = sentence(symbol, rng)
    chat: list[str] = []
    pieces: list[Piece] = []
    if rng.random() < fluency.false_start:
        begun, _ = sentence(symbol, rng)
        _false_start(begun[:3], chat, pieces)
    position = 0
    while position < len(words):
        position += _stumble(words[position:], fluency, rng, chat, pieces)
    if len(words) > 3 and rng.random() < fluency.abandoned:
        kept = _Tail(chat, pieces).drop_last_word()
        terminator = "+..." if kept else terminator
    return Plan(" ".join([*chat, terminator]), tuple(pieces))


def word_list(rng: np.random.Generator) -> Plan:
    """Return words in random order, some repeated, with CHAT codes that correspond to nothing in the audio.

    The web's captions, from which large models learned to listen, are as untidy: who reads only tidy sentences guesses
    the next word from the last ones, and loses the place in the sound at the first sign never met before. A reader of
    a list stops between words, and goes back over one or two; whoever hears only sentences learns that what comes
    again, or after a stop, need not be written.
    """
    known = sorted(vocabulary())
    words: list[str] = []
    for word in rng.choice(known, int(rng.integers(3, 8))):
        draw = rng.random()
        words += [str(word)] * (1 + int(draw < 0.2) + int(draw < 0.05))
        if draw > 0.88:
            words += words[-2:]
    chat: list[str] = []
    for at, word in enumerate(words):
        draw, more = rng.random(), at + 1 < len(words)
        if draw < 0.04 and word.isalpha() and len(word) > 2:
            first = word[0]
            chat.append(
                f"≠{word}" if draw < 0.015 else f"{first}:{word[1:]}" if draw < 0.03 else f"↫{first}-{first}↫{word}"
            )
        else:
            chat.append(word)
        if 0.04 <= draw < 0.15 and more:
            chat.append("[/]" if draw < 0.1 else "[//]" if draw < 0.14 else "[/-]")
        elif draw < 0.18 and more and at and chat[-2] == words[at - 1]:
            chat[-2:] = [f"<{chat[-2]}", f"{chat[-1]}>", "[/]" if draw < 0.165 else "[//]"]
        elif 0.18 <= draw < 0.22:
            chat.append("(.)" if draw < 0.205 else "(..)")
    return Plan(" ".join([*chat, "?" if rng.random() < 0.3 else "."]), tuple(_listed(word, rng) for word in words))


def _listed(word: str, rng: np.random.Generator) -> Piece:
    return Piece(word, (word,), gap_ms=_gap(rng, 40, 300) if rng.random() < 0.4 else 0)


class _Tail:
    """The end of a plan, from which an abandoned utterance loses its last word."""

    def __init__(self, chat: list[str], pieces: list[Piece]):
        self.chat, self.pieces = chat, pieces

    def drop_last_word(self) -> bool:
        plain = len(self.chat) > 2 and self.chat[-1] == self.pieces[-1].say and self.chat[-2] == self.pieces[-2].say
        if plain:
            self.chat.pop()
            self.pieces.pop()
        return plain


def _false_start(begun: list[str], chat: list[str], pieces: list[Piece]) -> None:
    chat += [f"<{' '.join(begun)}>", "[/-]"]
    pieces += [_plain(word) for word in begun]
    pieces[-1] = replace(pieces[-1], gap_ms=250)


def _plain(word: str) -> Piece:
    return Piece(word, (word,))


def _stumble(rest: list[str], f: Fluency, rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    """Append the next word (or phrase) of ``rest`` with at most one disfluency; return how many words were used."""
    word = rest[0]
    if rng.random() < f.filler:
        filler = FILLERS[0] if rng.random() < 0.6 else FILLERS[1]
        chat.append(f"&-{filler}")
        pieces.append(Piece(filler, (filler,), stretch_ms=int(rng.integers(180, 380)), gap_ms=_gap(rng, 40, 300)))
    if pieces and rng.random() < f.pause:
        long = rng.random() < 0.3
        chat.append("(..)" if long else "(.)")
        pieces[-1] = replace(pieces[-1], gap_ms=LONG_PAUSE_MS if long else SHORT_PAUSE_MS)
    kinds = ("repetition", "phrase_repetition", "revision", "fragment", "part_word", "prolongation", "block")
    draw, kind = rng.random(), None
    for name in kinds:
        draw -= getattr(f, name)
        if draw < 0:
            kind = name
            break
    used = _MAKERS[kind](rest, rng, chat, pieces) if kind else 0
    if used:
        return used
    chat.append(word)
    pieces.append(_plain(word))
    return 1


def _gap(rng: np.random.Generator, low_ms: int, high_ms: int) -> int:
    return int(rng.integers(low_ms, high_ms))


def _broken_off(word: str, rng: np.random.Generator) -> Piece:
    """Return a word after which the speaker stops and goes back: it is drawn out, and a silence follows.

    Both are what listeners know an interruption by (Shriberg 2001, To "errrr" is human).
    """
    return Piece(word, (word,), drawl=float(rng.uniform(1.3, 1.9)), gap_ms=_gap(rng, 120, 330))


def _repetition(rest: list[str], rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    word = rest[0]
    for _ in range(1 + int(rng.random() < 0.25)):
        chat += [word, "[/]"]
        pieces.append(_broken_off(word, rng))
    chat.append(word)
    pieces.append(_plain(word))
    return 1


def _phrase_repetition(rest: list[str], rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    if len(rest) < 2:
        return 0
    first, second = rest[:2]
    chat += [f"<{first} {second}>", "[/]", first, second]
    pieces += [_plain(first), _broken_off(second, rng), _plain(first), _plain(second)]
    return 2


def _revision(rest: list[str], rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    word = rest[0]
    wrong = alternative(word, rng)
    if wrong is None:
        return 0
    if chat and chat[-1] == pieces[-1].say and pieces[-1].gap_ms == 0 and rng.random() < 0.5:
        before = chat.pop()
        chat += [f"<{before} {wrong}>", "[//]", before, word]
        pieces += [_broken_off(wrong, rng), _plain(before), _plain(word)]
    else:
        chat += [wrong, "[//]", word]
        pieces += [_broken_off(wrong, rng), _plain(word)]
    return 1


def onset(word: str) -> tuple[str, int] | None:
    """Return the first letters of ``word`` up to its first vowel and the number of sounds in them, if both are plain.

    >>> onset("story"), onset("ball"), onset("apple"), onset("the")
    (('sto', 3), ('ba', 2), None, ('the', 2))
    """
    consonants = ""
    for letter in word:
        if letter in _VOWELS:
            break
        consonants += letter
    if not consonants or len(consonants) == len(word) or not word.isalpha() or word[0] in "yq":
        return None
    sounds = _SINGLE_SOUNDS.get(consonants, len(consonants))
    return consonants + word[len(consonants)], sounds + 1


def _fragment(rest: list[str], rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    begun = onset(rest[0])
    if begun is None or len(rest[0]) < 4:
        return 0
    letters, sounds = begun
    chat += [f"&+{letters}", rest[0]]
    pieces += [Piece(rest[0], (f"{letters}-",), onset_sounds=sounds, gap_ms=_gap(rng, 80, 250)), _plain(rest[0])]
    return 1


def _plosive(word: str) -> bool:
    return word[0] in "bdgptkc" and word[:2] not in _SINGLE_SOUNDS and word.isalpha()


def _part_word(rest: list[str], rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    begun = onset(rest[0])
    if begun is None or len(rest[0]) < 3 or not _plosive(rest[0]):
        return 0
    letters, copies = rest[0][0], 2 + int(rng.random() < 0.3)
    chat.append(f"↫{'-'.join([letters] * copies)}↫{rest[0]}")
    heard = (f"{letters}-",) * copies + (rest[0],)
    pieces.append(Piece(rest[0], heard, onset_sounds=2, copies=copies))
    return 1


def _prolongation(rest: list[str], rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    word = rest[0]
    if word[0] not in _STRETCHABLE or word.startswith("sh") or len(word) < 3:
        return 0
    chat.append(f"{word[0]}:{word[1:]}")
    pieces.append(Piece(word, (word,), stretch_ms=int(rng.integers(380, 650))))
    return 1


def _block(rest: list[str], rng: np.random.Generator, chat: list[str], pieces: list[Piece]) -> int:
    word = rest[0]
    if not _plosive(word):
        return 0
    chat.append(f"≠{word}")
    pieces.append(Piece(word, (word,), block_ms=int(rng.integers(300, 600))))
    return 1


_MAKERS = {
    "repetition": _repetition,
    "phrase_repetition": _phrase_repetition,
    "revision": _revision,
    "fragment": _fragment,
    "part_word": _part_word,
    "prolongation": _prolongation,
    "block": _block,
}
