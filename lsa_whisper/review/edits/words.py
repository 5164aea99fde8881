"""The written words of an utterance: where each stands in the text, and which spoken words it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.scan import SOLID, Token
from lsa_whisper.chat.tree import Item, Word, walk
from lsa_whisper.chat.word import read_word
from lsa_whisper.review.edits.change import EditError


class WrittenWord(NamedTuple):
    """A word as written: characters ``start:end`` of the text, spoken words ``first:last`` of the utterance."""

    text: str
    start: int
    end: int
    first: int
    last: int


def word_tokens(text: str) -> list[Token]:
    """Return the words of a main tier's text, without codes, pauses and terminators.

    >>> [token.text for token in word_tokens("<I want> [/] &-um (.) I want it .")]
    ['I', 'want', '&-um', 'I', 'want', 'it']
    """
    matches = (match for match in SOLID.finditer(text) if match.lastgroup == "word")
    return [Token("word", match["word"], match.start("word")) for match in matches]


def written_words(utterance: Utterance) -> list[WrittenWord]:
    """Return the written words of an utterance.

    Where marks such as ``[x 3]`` stand for further copies, no written word is assigned spoken words.

    >>> from lsa_whisper.chat import utterance
    >>> [(word.text, word.first, word.last) for word in written_words(utterance("PAR", "↫b-b↫ball ice_cream ."))]
    [('↫b-b↫ball', 0, 3), ('ice_cream', 3, 5)]
    """
    text, words, at = utterance.text, [], 0
    # Unless a bullet or a line break stands between words, the tree that was already built has the right offsets.
    tokens = _tree_words(utterance.tree.items) if utterance.body.startswith(text) else word_tokens(text)
    for _, surface, offset in tokens:
        count = len(read_word(surface).verbatim)
        words.append(WrittenWord(surface, offset, offset + len(surface), at, at + count))
        at += count
    if at != len(utterance.reading.verbatim):
        return [WrittenWord(word.text, word.start, word.end, 0, 0) for word in words]
    return words


def _tree_words(items: Sequence[Item]) -> Iterator[Token]:
    """Return the words of a tree; their offsets refer to the body of the main tier."""
    return (Token("word", item.text, item.offset) for item in walk(items) if isinstance(item, Word))


def chosen_words(text: str, first: int, last: int) -> list[Token]:
    """Return the written words ``first`` to ``last``, both included.

    Raises:
        EditError: The text has no such words.
    """
    words = word_tokens(text)
    if not 0 <= first <= last < len(words):
        raise EditError(f"words {first + 1} to {last + 1}: the utterance has {len(words)}; choose words first")
    return words[first : last + 1]
