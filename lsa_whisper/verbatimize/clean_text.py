"""A clean main tier as items with places between them, where disfluencies can be inserted.

Every change is an insertion of characters, so that no character of the tier is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.main_tier import BULLET
from lsa_whisper.chat.tree import Item, Marker, Word
from lsa_whisper.chat.word import WordKind, read_word
from lsa_whisper.labels import Labels
from lsa_whisper.labels.canonical import LABEL_TERMINATORS, canonical
from lsa_whisper.labels.notation import chat_to_label

TAKEN_BACK = ("[//]", "[///]", "[/-]")
"""The codes behind words that are not those of the clean text."""
_NEXT_WORD = "x"
_PLAIN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*'?")


@dataclass(frozen=True)
class Insertion:
    """Characters that are inserted at an offset of a main tier's body."""

    offset: int
    text: str

    @property
    def is_spoken(self) -> bool:
        """Whether it is a filled pause, a repetition or a cut-off word: words that no other word replaces.

        >>> [Insertion(0, text).is_spoken for text in ("&-um ", "<I want> [/] ", "&+sto ", "dog [//] ", "(.) ", "≠")]
        [True, True, True, False, False, False]
        """
        return self.text.startswith(("&-", "&+")) or self.text.endswith(" [/] ")


@dataclass(frozen=True)
class CleanItem:
    """A part of the clean text that is spoken as it stands.

    Attributes:
        offset: Where it begins in the tier's body.
        label: The text that the model writes for it.
        word: The word, if it is a single plain word without marks, which can be copied and cut off; else empty.
    """

    offset: int
    label: str
    word: str = ""


@dataclass(frozen=True)
class CleanText:
    """The items of one main tier.

    Attributes:
        items: In order; empty if nothing in the tier is spoken.
        end: Where the terminator begins, or where it would.
        ending: The text that the model writes for the terminator.
    """

    items: tuple[CleanItem, ...]
    end: int
    ending: str


def write_label(text: str, labels: Labels) -> str:
    """Return what a model writes for CHAT ``text`` without a terminator; empty if its style has no words for it.

    >>> write_label("&-um the (.)", Labels("chat")), write_label("&-um ↫b-b↫ball (.)", Labels("verbatim"))
    ('um the ..', 'um b- b- ball')
    """
    if labels.style == "chat":
        return chat_to_label(text, labels.version, keep_marks=True)
    return " ".join(word for piece in text.split() if piece[0] != "(" for word in read_word(piece).verbatim)


def read_clean_text(utterance: Utterance, labels: Labels) -> CleanText:
    """Return the items of ``utterance`` for a model with ``labels``.

    >>> from lsa_whisper.chat import utterance
    >>> text = read_clean_text(utterance("CHI", "the dog goed [: went] home ?"), Labels("chat"))
    >>> [(item.label, item.word, item.offset) for item in text.items], text.ending, text.end
    ([('the', 'the', 0), ('dog', 'dog', 4), ('goed', '', 8), ('home', 'home', 22)], '?', 27)
    """
    items = utterance.tree.items
    clean_items = [clean for item in items if (clean := _clean_item(item, labels)) is not None]
    last = max((item.offset for item in items if not isinstance(item, Marker)), default=0)
    after = (item for item in items if isinstance(item, Marker) and item.offset > last)
    end = next((item.offset for item in after if item.kind in ("terminator", "ca", "bullet")), None)
    if end is None:
        end = len(BULLET.sub("", utterance.body).rstrip())
    return CleanText(tuple(clean_items), end, _ending(utterance.terminator, labels))


def _ending(terminator: str, labels: Labels) -> str:
    if terminator not in LABEL_TERMINATORS:
        terminator = "?" if terminator.endswith("?") else "."
    if labels.style != "chat":
        return terminator[-1] if terminator[-1] in "?!" else "."
    return chat_to_label(f"{_NEXT_WORD} {terminator}", labels.version).removeprefix(_NEXT_WORD)


def _clean_item(item: Item, labels: Labels) -> CleanItem | None:
    if isinstance(item, Marker) and item.kind != "pause":
        return None
    # A retrace at the end has no repair and would be dropped, so a word follows each item.
    text = canonical([item, Word(_NEXT_WORD, 0)], ".").text.removesuffix(f"{_NEXT_WORD} .").strip()
    label = write_label(text, labels) if text else ""
    if not label:
        return None
    plain = isinstance(item, Word) and not item.codes and item.text == text and _is_plain(text)
    return CleanItem(item.offset, label, text if plain else "")


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and read_word(text).kind is WordKind.WORD


def join_retraces(insertions: Sequence[Insertion]) -> list[Insertion]:
    """Return ``insertions`` with a copy and the other words behind it as one revision.

    >>> [insertion.text for insertion in join_retraces([Insertion(4, "doctor [/] "), Insertion(4, "broke [//] ")])]
    ['<doctor broke> [//] ']
    """
    result: list[Insertion] = []
    for insertion in insertions:
        last = result[-1] if result else None
        code = next((code for code in TAKEN_BACK if insertion.text.endswith(f" {code} ")), None)
        if last and code and last.offset == insertion.offset and last.text.endswith(" [/] "):
            words = " ".join(_words_of(part.text) for part in (result.pop(), insertion))
            insertion = Insertion(insertion.offset, f"<{words}> {code} ")
        result.append(insertion)
    return result


def _words_of(retrace: str) -> str:
    """Return the retraced words of ``<I want> [/]``."""
    return retrace.rpartition("[")[0].strip().removeprefix("<").removesuffix(">")


def insert(utterance: Utterance, insertions: Sequence[Insertion]) -> Utterance:
    """Return ``utterance`` with ``insertions`` in its main tier; those at one offset keep their order.

    >>> from lsa_whisper.chat import utterance
    >>> insert(utterance("CHI", "the dog ."), [Insertion(0, "&-um "), Insertion(4, "≠")]).text
    '&-um the ≠dog .'
    """
    body = utterance.body
    pieces, at = [], 0
    for insertion in sorted(insertions, key=lambda item: item.offset):  # stable
        pieces += [body[at : insertion.offset], insertion.text]
        at = insertion.offset
    return utterance.with_body("".join(pieces) + body[at:])
