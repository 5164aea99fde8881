"""The words of a source that its transcript has nowhere: not on a main tier, nor in a comment or another tier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lsa_whisper.chat import Line, Transcript
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.formats.reading.notation import LONG_SOUND
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.tags import chat_of, uncertain_words, unescaped
from lsa_whisper.labels import letters_of
from lsa_whisper.labels.number_words import UNITS

_WORD = re.compile(r"(?<![\w°£$€%])[^\W\d_]+(?:'[^\W\d_]+)*(?![^\W_])|(?<=_)[^\W\d_]+")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
"""It joins two of these to one word of CHAT, as in *mm-hmm*."""
_NO_WORDS = (*UNTRANSCRIBED, "xx", "yy", *map(str.lower, UNITS), "mln", "mld", "h", "u", "hh", "hhh", "eur")
"""Codes for what cannot be understood, the Roman numbers of centuries, and units, which are spelled out."""
_SAME = str.maketrans("ı²³½¼¾⅓⅔⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚", f"i{' ' * 17}")
"""Turkish letters without case, and signs that become words of their own."""
_SHORT = re.compile(r"\bw/(?:o(?:ut)?\b)?|\bb/c\b")
"""*With*, *without* and *because*, which are spelled out."""
_AT_ONCE = 1000
_MARKED = re.compile(r"[<\[({&]")
_TAG = re.compile(r"<[^<>]*>")
_BRACKETS = re.compile(r"[\[({]([^\[\](){}]*)[\])}]")


def lost_words(source: Source, transcript: Transcript) -> tuple[int, int, str]:
    """Return the number of words in ``source``, how many of them are lost, and the place of the first of these.

    Words are compared without marks. Numbers in digits, tags and descriptions of sounds become other words, and are not
    looked for.
    """
    texts, whole = [_plain(turn.text) for turn in source.spoken], _plain(source.full_text)
    longer = len(letters_of(whole)) > len(letters_of(" ".join(texts)))
    original, present = _counted(texts) | _counted([whole] * longer), _counted(_texts_of(transcript))
    missing = original - present
    for word in _NO_WORDS:
        del missing[word]
    place = _place_of(missing, present, source) if missing else ""
    hyphens = sum(len(_HYPHEN.findall(text)) for text in texts if "-" in text)
    total = original.total() - hyphens - sum(original[word] for word in UNTRANSCRIBED)
    return total, missing.total(), place


def _texts_of(transcript: Transcript) -> list[str]:
    utterances = transcript.utterances
    lines = (block.raw for block in transcript.blocks if isinstance(block, Line))
    return [
        *lines,
        *(f"{utterance.speaker} {utterance.text}" for utterance in utterances),
        *(tier.raw for utterance in utterances for tier in utterance.tiers),
    ]


def _counted(texts: Sequence[str]) -> Counter[str]:
    pieces: Counter[str] = Counter()  # the same ones come again and again, and words are looked for in each once
    for at in range(0, len(texts), _AT_ONCE):  # those of a large file take much memory
        pieces.update("\n".join(texts[at : at + _AT_ONCE]).split())
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for word in _words(piece):
            counts[word] += count
    return counts


def _place_of(missing: Counter[str], present: Counter[str], source: Source) -> str:
    """Return the place of the first word that is used up in ``present``."""
    for turn in source.spoken:
        for word in _words(_plain(turn.text)):
            present[word] -= 1
            if word in missing and present[word] < 0:
                return turn.place
    return ""


def _plain(text: str) -> str:
    if not _MARKED.search(text):
        return text
    bare = _TAG.sub(" ", unescaped(text)) if "[/" not in text else text
    return _BRACKETS.sub(lambda match: _spoken(match.group(1)), bare)


def _spoken(content: str) -> str:
    """Return the words in brackets with this ``content``: none in ``unclear``, *the dog* in ``unclear: the dog``."""
    return " " if chat_of(content) else f" {uncertain_words(content) or content} "


def _words(text: str) -> list[str]:
    lower = LONG_SOUND.sub(r"\1", text.replace("’", "'").casefold()).replace("::", "")
    lower = _SHORT.sub(" ", lower) if "/" in lower else lower
    return _WORD.findall(lower if lower.isascii() else lower.replace("i\u0307", "i").translate(_SAME))
