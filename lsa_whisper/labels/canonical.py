"""Canonical main tiers: CHAT reduced to what is audible, in words as CLAN's CHECK accepts them.

Signs that stand where CHAT does not allow them are moved or dropped; no letter is ever lost. The rules are those of
:mod:`lsa_whisper.chat.checks.words`, and stricter where CHAT is silent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from lsa_whisper.chat.disfluencies import RETRACE_CODES
from lsa_whisper.chat.plain_words import is_simple
from lsa_whisper.chat.reading import copy_count
from lsa_whisper.chat.tree import Group, Item, Marker, Word, build_tree
from lsa_whisper.chat.word import WordKind, read_word

_SOUND = r"[^-:^'_≠↫&]"
_SIGNS = frozenset("-:^'_≠↫")
_BETWEEN_LETTERS = frozenset("·״׳\u200c\u200d")
"""Marks that are part of the spelling of Catalan, Hebrew and Persian words."""

_REPEATED_SOUNDS = re.compile(r"(?:↫[^↫]*↫)+")
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"≠+", "≠"),
        (r"\^+", "^"),
        (r"-+", "-"),
        (r"'+", "'"),
        (r"_+", "_"),
        (rf"(?<!{_SOUND})(?<![:'])(:+)({_SOUND})", r"\2\1"),  # the first sound is prolonged
        (rf"(?<!{_SOUND})(?<![:']):+", ""),
        (rf"≠(?!{_SOUND}|↫)", ""),
        (rf"(?<!{_SOUND})(?<!:)\^|\^(?!{_SOUND})", ""),
        (rf"(?<!{_SOUND})(?<!:)-|-(?!{_SOUND})", ""),
        (rf"(?<!{_SOUND})(?<!:)_|_(?!{_SOUND})", ""),
        (rf"(?<=[-^_≠↫])'|'(?=[-:^_≠↫])|\A'(?!{_SOUND})", ""),
    )
)
_BEFORE_JOIN = re.compile(":+(?=_)")
_NO_LETTERS = re.compile("[:^≠_]")
_LONG = re.compile(":{3,}")


@lru_cache(maxsize=1 << 14)
def legal_word(piece: str) -> str:
    """Return ``piece``, a word of a canonical main tier, in a spelling that CHECK accepts; empty without a letter.

    >>> [legal_word(piece) for piece in (":hoo", "who''", "&+:-uh", "&+'a", "i-'s", "↫:o↫I", "s:o", "&-you_know")]
    ['h:oo', "who'", '&+uh', '&+a', "i's", '↫o↫I', 's:o', '&-you_know']
    >>> legal_word("XX§")
    'xxx'
    """
    if piece.isalpha() or piece.startswith("&="):
        return piece
    sign, body = (piece[:2], piece[2:]) if piece[:2] in ("&-", "&+", "&~") else ("", piece)
    body, at, language = body.partition("@s")
    body = _repeated_sounds("".join(filter(None, map(_kept, body, body[1:] + " "))))
    while (tidy := _repeated_sounds(_apply_rules(body, bool(sign)))) != body:
        body = tidy
    word = read_word(sign + body + at + language) if any(character.isalnum() for character in body) else None
    if word and word.kind is WordKind.UNTRANSCRIBED:  # XX was hidden by a sign that is gone
        return word.surface[0]
    return sign + body + at + language if word else ""


def _kept(character: str, behind: str) -> str:
    if character.isalpha() or character in _SIGNS or character.isdecimal():
        return character
    category = unicodedata.category(character)
    modifies = category[0] == "M" or (category in ("Sk", "No") and not character.isascii())  # kɛ˞, hey²
    return character if modifies or (character in _BETWEEN_LETTERS and behind.isalpha()) else ""


def _apply_rules(body: str, prefixed: bool) -> str:
    for pattern, replacement in _RULES:
        body = pattern.sub(replacement, body)
    body = body.rstrip("-^_≠")
    return _LONG.sub("::", body).lstrip("'") if prefixed else _BEFORE_JOIN.sub("", body)


def _repeated_sounds(body: str) -> str:
    """Return ``body`` with well-formed ``↫...↫``, each with a sound in it; two in a row become one."""
    if "↫" not in body:
        return body
    if body.count("↫") % 2:
        body = body[: body.rindex("↫")] + body[body.rindex("↫") + 1 :]
    if not any(character.isalpha() for character in _REPEATED_SOUNDS.sub("", body)):
        return body.replace("↫", "")
    return _REPEATED_SOUNDS.sub(_with_sounds, body)


def _with_sounds(match: re.Match[str]) -> str:
    copies = (_apply_rules(_NO_LETTERS.sub("", copy), True) for copy in re.split("[-↫]", match[0]))
    audible = [copy for copy in copies if any(character.isalpha() for character in copy)]
    return f"↫{'-'.join(audible)}↫" if audible else ""


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


def canonical(items: list[Item], terminator: str, *, every_event: bool = False) -> Canonical:
    """Return the audible part of ``items`` as a main tier; it passes ``check`` and keeps all words and disfluencies.

    With ``every_event``, events of any kind are kept, such as ``&=music``.

    >>> from lsa_whisper.chat.tree import build_tree
    >>> canonical(build_tree("<well I> [/] well &=points I goed [: went] [x 2]").items, "").text
    '<well I> [/] well I goed [/] goed .'
    """
    pieces: list[str] = []
    dropped = _write(items, pieces, every_event)
    pieces, unrepaired = _without_unrepaired(pieces)
    if not pieces:
        return Canonical("", dropped)
    text = " ".join([*pieces, _legal_terminator(terminator)]).replace("< ", "<").replace(" >", ">")
    return Canonical(text, dropped + unrepaired)


def canonical_words(words: str, terminator: str, *, every_event: bool = False) -> Canonical:
    """Return what :func:`canonical` makes of ``words``, which are a tier without terminator; faults are dropped."""
    if is_simple(words):
        return Canonical(f"{words} {_legal_terminator(terminator)}", 0)
    tree = build_tree(words)
    tier = canonical(tree.items, terminator, every_event=every_event)
    return Canonical(tier.text, tier.dropped + len(tree.faults))


def _legal_terminator(terminator: str) -> str:
    if terminator in LABEL_TERMINATORS:
        return terminator
    return "?" if terminator.endswith("?") else "."


def _write(items: list[Item], pieces: list[str], every_event: bool) -> int:
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
            dropped += _write_once(item, pieces, every_event)
            _mark_retrace(pieces, begin, "[/]")
        dropped += _write_once(item, pieces, every_event)
        retrace = next((code for code in item.codes if code in RETRACE_CODES), None)
        if retrace:
            dropped += not _mark_retrace(pieces, start, "[//]" if retrace == "[/?]" else retrace)
    return dropped


def _write_once(item: Word | Group, pieces: list[str], every_event: bool) -> int:
    if isinstance(item, Group):
        return _write(item.items, pieces, every_event)
    reading = read_word(item.text)
    if reading.kind is WordKind.EVENT:
        pieces.extend(_event(item.text, every_event))
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
    several = end - start > 1
    pieces[start:] = [*["<"] * several, *pieces[start:end], *[">"] * several, code, *pieces[end:]]
    return True


def _without_unrepaired(pieces: list[str]) -> tuple[list[str], int]:
    """Drop retraces without a repair, with their brackets; return the other pieces and the number dropped."""
    last_word = max((at for at, piece in enumerate(pieces) if _is_word(piece)), default=-1)
    unrepaired = [at for at in range(last_word + 1, len(pieces)) if pieces[at] in RETRACE_CODES]
    if not unrepaired:
        return pieces, 0
    drop = set(unrepaired)
    openings: list[int] = []
    for at, piece in enumerate(pieces):
        if piece == "<":
            openings.append(at)
        elif piece == ">":
            pair = (openings.pop(), at)
            if at + 1 in drop:
                drop.update(pair)
    return [piece for at, piece in enumerate(pieces) if at not in drop], len(unrepaired)


def _is_word(piece: str) -> bool:
    return piece not in RETRACE_CODES and piece not in ("<", ">") and not piece.startswith(("(", "&="))


def _event(text: str, every_event: bool) -> tuple[str, ...]:
    if not text.startswith("&="):
        return ()
    if every_event:
        return (text,)
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
