"""Canonical main tiers: CHAT reduced to what is audible."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from lsa_whisper.chat.disfluencies import RETRACE_CODES
from lsa_whisper.chat.reading import copy_count
from lsa_whisper.chat.tree import Group, Item, Marker, Word
from lsa_whisper.chat.word import WordKind, read_word
from lsa_whisper.labels.legal_words import legal_word

LABEL_TERMINATORS = (".", "?", "!", "+...", "+..?", "+/.", "+/?", "+//.", "+//?", "+!?")
_SOUNDS = """
    belches breathes burps claps clears coughs cries exhales gasps giggles groans growls grunts hiccups hums imitates
    inhales kisses knocks laughs moans mumbles pants screams shouts sighs sings slurps smacks sneezes sniffs snores
    snorts sobs squeals squeaks swallows ticks vocalizes whimpers whines whispers whistles yawns yells
    laugh laughing laughter cough coughing sigh sighing cry crying gasp sneeze sniff yawn
"""
AUDIBLE_EVENTS = frozenset(_SOUNDS.split())
"""The simple events ``&=...`` that are audible, unlike ``&=head:yes`` or ``&=points``."""

_DIGIT = re.compile(r"\d")
_LANGUAGE = re.compile(r"@s:[a-z]{3}")


class Canonical(NamedTuple):
    """A main tier without speaker code (empty if nothing is audible), and the number of misplaced marks dropped."""

    text: str
    dropped: int


def canonical(items: list[Item], terminator: str) -> Canonical:
    """Return the audible part of ``items`` as a main tier; it passes ``check`` and keeps all words and disfluencies.

    >>> from lsa_whisper.chat.tree import build_tree
    >>> canonical(build_tree("<well I> [/] well &=points I goed [: went] [x 2]").items, "").text
    '<well I> [/] well I goed [/] goed .'
    """
    pieces: list[str] = []
    dropped = _write(items, pieces)
    pieces, unrepaired = _without_unrepaired(pieces)
    if not pieces:
        return Canonical("", dropped)
    if terminator not in LABEL_TERMINATORS:
        terminator = "?" if terminator.endswith("?") else "."
    text = " ".join([*pieces, terminator]).replace("< ", "<").replace(" >", ">")
    return Canonical(text, dropped + unrepaired)


def _write(items: list[Item], pieces: list[str]) -> int:
    """Append the pieces of ``items``; return the number of retraces without retraced words."""
    dropped = 0
    for item in items:
        if isinstance(item, Marker):
            if item.kind == "pause":
                pieces.append(_pause(item.text))
            continue
        start = len(pieces)
        for _ in range(copy_count(item.codes) - 1):
            begin = len(pieces)
            dropped += _write_once(item, pieces)
            _mark_retrace(pieces, begin, "[/]")
        dropped += _write_once(item, pieces)
        retrace = next((code for code in item.codes if code in RETRACE_CODES), None)
        if retrace:
            dropped += not _mark_retrace(pieces, start, "[//]" if retrace == "[/?]" else retrace)
    return dropped


def _write_once(item: Word | Group, pieces: list[str]) -> int:
    if isinstance(item, Group):
        return _write(item.items, pieces)
    reading = read_word(item.text)
    if reading.kind is WordKind.EVENT:
        pieces.extend(_audible_event(item.text))
    else:
        pieces.extend(filter(None, map(legal_word, _with_tones(item.text, reading.surface))))
    return 0


def _with_tones(text: str, surface: tuple[str, ...]) -> Iterable[str]:
    """Return ``surface``; digits are tones only in words of another language: ``hao3@s:zho``, ``hao3@s``."""
    if not _DIGIT.search(text) or "@s" not in text:
        return surface
    language = _LANGUAGE.search(text)
    return (piece + (language[0] if language else "@s") if _DIGIT.search(piece) else piece for piece in surface)


def _mark_retrace(pieces: list[str], start: int, code: str) -> bool:
    """Append ``code`` to the pieces from ``start`` on and return true, unless none of them is a word.

    CHECK allows no pause before ``>``, so that pauses at the end come after the code.
    """
    if not any(_is_word(piece) for piece in pieces[start:]):
        return False
    end = len(pieces)
    while pieces[end - 1].startswith("("):
        end -= 1
    grouped = end - start > 1
    pieces[start:] = [*["<"] * grouped, *pieces[start:end], *[">"] * grouped, code, *pieces[end:]]
    return True


def _without_unrepaired(pieces: list[str]) -> tuple[list[str], int]:
    """Drop retraces without a repair, with their brackets; return the other pieces and the number dropped."""
    last_word = max((at for at, piece in enumerate(pieces) if _is_word(piece)), default=-1)
    unrepaired = [at for at in range(last_word + 1, len(pieces)) if pieces[at] in RETRACE_CODES]
    if not unrepaired:
        return pieces, 0
    drop = set(unrepaired)
    opened: list[int] = []
    for at, piece in enumerate(pieces):
        if piece == "<":
            opened.append(at)
        elif piece == ">":
            pair = (opened.pop(), at)
            if at + 1 in drop:
                drop.update(pair)
    return [piece for at, piece in enumerate(pieces) if at not in drop], len(unrepaired)


def _is_word(piece: str) -> bool:
    return piece not in RETRACE_CODES and piece not in ("<", ">") and not piece.startswith(("(", "&="))


def _audible_event(text: str) -> tuple[str, ...]:
    if not text.startswith("&="):
        return ()
    head, _, rest = text[2:].lower().partition(":")
    if head not in AUDIBLE_EVENTS:
        return ()
    return ("&=clears:throat",) if head == "clears" and rest == "throat" else (f"&={head}",)


def _pause(text: str) -> str:
    """Return a timed pause as short, medium or long, because labels contain no digits."""
    inside = text.strip("()#")
    if not any(character.isdigit() for character in inside):
        return text if text.startswith("(") else "(.)"
    *minutes, seconds = inside.split(":")
    length_s = float("0" + seconds) if seconds.count(".") <= 1 else 0.0
    if any(part.strip("0") for part in minutes):
        length_s += 60
    return "(.)" if length_s < 1 else "(..)" if length_s < 3 else "(...)"
