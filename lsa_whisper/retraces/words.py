"""The words of a main tier as the tagger sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsa_whisper.chat.tree import Item, Marker, Word, build_tree
from lsa_whisper.timespan import TimeSpan

RETRACE_CODES = ("[/]", "[//]", "[///]", "[/-]")
_SPELLING = re.compile(r"↫[^↫]*↫|[:^()]|@.*")  # part-word repetitions, lengthening, blocks, shortenings, form markers
_NOT_SPOKEN = ("&=", "&{", "&}", "&*", "0")


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word of an utterance, fillers left out.

    Attributes:
        text: The word in lower case; a cut-off word without its mark (``sto`` of ``&+sto``).
        cut_off: Whether the speaker broke the word off.
        after_filler: Whether one or more fillers stand between this word and the one before.
        after_comma: Whether a comma stands there.
        start: Offset of the first character of the word in its main tier.
        end: Offset after its last character and the codes that belong to it.
        span: Its time in the recording, where known.
    """

    text: str
    cut_off: bool = False
    after_filler: bool = False
    after_comma: bool = False
    start: int = 0
    end: int = 0
    span: TimeSpan | None = None


def spoken_words(body: str) -> list[SpokenWord] | None:
    """Return the words of a main tier's ``body``; ``None`` where a transcriber has set retraces or groups.

    >>> [(word.text, word.cut_off, word.after_filler) for word in spoken_words("the &+sto &-um story .")]
    [('the', False, False), ('sto', True, False), ('story', False, True)]
    >>> spoken_words("<I want> [/] I want it .") is None
    True
    """
    tree = build_tree(body)
    if not all(_is_plain(item) for item in tree.items):
        return None
    return list(_words(tree.items, body))


def _is_plain(item: Item) -> bool:
    if isinstance(item, Word):
        return not any(code in RETRACE_CODES for code in item.codes)
    return isinstance(item, Marker) and item.text not in RETRACE_CODES


def _words(items: Sequence[Item], body: str) -> Iterator[SpokenWord]:
    filler = comma = False
    for at, item in enumerate(items):
        if isinstance(item, Marker):
            comma = comma or item.text == ","
        elif isinstance(item, Word) and item.text.startswith("&-"):
            filler = True
        elif isinstance(item, Word) and not item.text.startswith(_NOT_SPOKEN):
            cut_off = item.text.startswith(("&+", "&~"))
            text = _SPELLING.sub("", item.text[2:] if cut_off else item.text).casefold()
            yield SpokenWord(text, cut_off, filler, comma, item.offset, _end(items, at, body))
            filler = comma = False


def _end(items: Sequence[Item], at: int, body: str) -> int:
    """Return the offset after the codes of ``items[at]``, such as ``[: want to]``."""
    word = items[at]
    assert isinstance(word, Word)
    end = word.offset + len(word.text)
    for code in word.codes:
        end = body.index(code, end) + len(code)
    return end
