"""The words of a main tier as the tagger sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, count, repeat
from operator import add, sub
from typing import NamedTuple

from lsa_whisper.chat.plain_words import is_simple
from lsa_whisper.chat.tree import Group, Item, Marker, Word, build_tree
from lsa_whisper.timespan import TimeSpan

KIND_OF_CODE = {"[/]": "repeat", "[//]": "revision", "[///]": "reformulation", "[/-]": "false start"}
"""What each retrace code says of the words before it."""
NOT_TAKEN_BACK = "none"
_SPELLING = re.compile(r"↫[^↫]*↫|[:^()≠]|@.*")  # part-word repetitions, lengthening, blocks, shortenings, forms
_NOT_SPOKEN = ("&=", "&{", "&}", "&*", "0")


class SpokenWord(NamedTuple):
    """A word of an utterance, fillers left out.

    Attributes:
        text: The word in lower case, but for the letter A; a cut-off word without its mark (``sto`` of ``&+sto``).
        cut_off: Whether the speaker broke the word off.
        after_filler: Whether one or more fillers stand between this word and the one before.
        after_comma: Whether a comma stands there.
        start: Offset of the first character of the word in its main tier.
        end: Offset after its last character and the codes that belong to it.
        span: Its time in the recording, where known.
        retrace: ``none``, or what a retrace code says of it: ``begin`` or ``inside`` and a kind (``begin repeat``).
        before_code: Whether a code of a revision, reformulation or false start stands after the word.
    """

    text: str
    cut_off: bool = False
    after_filler: bool = False
    after_comma: bool = False
    start: int = 0
    end: int = 0
    span: TimeSpan | None = None
    retrace: str = NOT_TAKEN_BACK
    before_code: bool = False


_quickly = partial(tuple.__new__, SpokenWord)
"""Makes a word of all its attributes: most of the time for a long file went into calls of the class."""


def spoken_words(body: str) -> list[SpokenWord] | None:
    """Return the words of a main tier's ``body``; ``None`` where a transcriber has set retraces or groups.

    >>> [(word.text, word.cut_off, word.after_filler) for word in spoken_words("the &+sto &-um story .")]
    [('the', False, False), ('sto', True, False), ('story', False, True)]
    >>> spoken_words("<I want> [/] I want it .") is None
    True
    """
    if is_simple(body):
        return None if " [" in body else _simply(body)
    items = build_tree(body).items
    return _words_of(items, body) if all(map(_is_plain, items)) else None


def _simply(body: str) -> list[SpokenWord]:
    """Return the words of a tier that has nothing else but fillers, cut-off words and a terminator."""
    words = body.split(" ")
    if words[-1][0] in ".?!+":
        words.pop()
    lengths = list(map(len, words))
    ends = list(map(add, accumulate(lengths), count()))
    starts = map(sub, ends, lengths)
    if "&" not in body:
        texts = body.casefold().split(" ")
        if "A" in words:
            texts = [_spelled(word, at == 0) for at, word in enumerate(words)]
        no = repeat(False)
        return list(map(_quickly, zip(texts, no, no, no, starts, ends, repeat(None), repeat(NOT_TAKEN_BACK), no)))
    spoken: list[SpokenWord] = []
    filler = False
    for word, start, end in zip(words, starts, ends, strict=True):
        if word.startswith("&-"):
            filler = True
            continue
        cut_off = word[0] == "&"
        spoken.append(
            SpokenWord(_spelled(word[2:] if cut_off else word, not spoken), cut_off, filler, False, start, end)
        )
        filler = False
    return spoken


def _spelled(word: str, first: bool) -> str:
    """Return a word in small letters; a capital behind other words is the name of a letter, not the article: "an A"."""
    return word if word == "A" and not first else word.casefold()


def marked_words(body: str) -> list[SpokenWord]:
    """Return the words of a main tier's ``body`` with what its retrace codes say of them.

    Where groups are nested, the code of the innermost counts.

    >>> [f"{word.text}: {word.retrace}" for word in marked_words("<I want> [//] I need it .")]
    ['i: begin revision', 'want: inside revision', 'i: none', 'need: none', 'it: none']
    """
    return _words_of(build_tree(body).items, body)


def _words_of(items: Sequence[Item], body: str) -> list[SpokenWord]:
    reader = _Reader(body)
    reader.read(items)
    return reader.words


def hide_codes(words: Sequence[SpokenWord]) -> list[SpokenWord]:
    """Return ``words`` without what :attr:`SpokenWord.before_code` says of them."""
    return [word._replace(before_code=False) for word in words]


def _is_plain(item: Item) -> bool:
    if isinstance(item, Word):
        return not any(code in KIND_OF_CODE for code in item.codes)
    return isinstance(item, Marker) and item.text not in KIND_OF_CODE


@dataclass(slots=True)
class _Reader:
    """Collects the words of a tree, groups within groups."""

    body: str
    words: list[SpokenWord] = field(default_factory=list)
    _filler: bool = False
    _comma: bool = False

    def read(self, items: Sequence[Item]) -> None:
        for item in items:
            first = len(self.words)
            if isinstance(item, Marker):
                self._comma = self._comma or item.text == ","
                continue
            if isinstance(item, Group):
                self.read(item.items)
            elif item.text.startswith("&-"):
                self._filler = True
            elif not item.text.startswith(_NOT_SPOKEN):
                self._add(item)
            self._mark(first, next((KIND_OF_CODE[code] for code in item.codes if code in KIND_OF_CODE), None))

    def _add(self, item: Word) -> None:
        cut_off = item.text.startswith(("&+", "&~"))
        text = _SPELLING.sub("", item.text[2:] if cut_off else item.text)
        text = _spelled(text, not self.words)
        end = item.offset + len(item.text)
        for code in item.codes:
            end = self.body.index(code, end) + len(code)
        self.words.append(SpokenWord(text, cut_off, self._filler, self._comma, item.offset, end))
        self._filler = self._comma = False

    def _mark(self, first: int, kind: str | None) -> None:
        for at, word in enumerate(self.words[first:] if kind else (), first):
            if word.retrace == NOT_TAKEN_BACK:
                self.words[at] = word._replace(retrace=f"{'begin' if at == first else 'inside'} {kind}")
        if kind not in (None, "repeat") and len(self.words) > first:
            self.words[-1] = self.words[-1]._replace(before_code=True)
