"""The words of a source that its transcript has nowhere: not on a main tier, nor in a comment or another tier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from lsa_whisper import chat
from lsa_whisper.chat import Transcript
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.tags import chat_of, unescaped

_WORD = re.compile(r"(?<![\w°£$€%])[^\W\d_]+(?:'[^\W\d_]+)*(?!\d)|(?<=_)[^\W\d_]+")
_TAG = re.compile(r"<[^<>]*>")
_BRACKETS = re.compile(r"[\[({]([^\[\](){}]*)[\])}]")


def lost_words(source: Source, transcript: Transcript) -> tuple[int, str]:
    """Return how many words of ``source`` are lost, and the place of the first; words are compared without marks.

    Numbers in digits, tags and descriptions of sounds become other words, and are not looked for.
    """
    kept = Counter(_words([chat.serialize(transcript)]))
    lost, place = 0, ""
    for each in source.spoken:
        for word in _words([_plain(each.text)]):
            if kept[word]:
                kept[word] -= 1
            else:
                lost += 1
                place = place or each.place
    return lost, place


def source_words(source: Source) -> int:
    """Return the number of words in the texts of ``source``, without tags and descriptions of sounds."""
    return sum(1 for _ in _words(_plain(each.text) for each in source.spoken))


def _plain(text: str) -> str:
    bare = _TAG.sub(" ", unescaped(text)) if "[/" not in text else text
    return _BRACKETS.sub(lambda match: " " if chat_of(match.group(1)) else f" {match.group(1)} ", bare)


def _words(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        yield from (word.casefold() for word in _WORD.findall(text.replace("’", "'")))
