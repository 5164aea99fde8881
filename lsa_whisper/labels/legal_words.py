"""Words as CLAN's CHECK accepts them: signs that stand where CHAT does not allow them are moved or dropped.

No letter is ever lost. The rules are those of :mod:`lsa_whisper.chat.checks.words`, and stricter where CHAT is silent.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
    kept = [copy for copy in copies if any(character.isalpha() for character in copy)]
    return f"↫{'-'.join(kept)}↫" if kept else ""
