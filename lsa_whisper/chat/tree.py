"""The syntax tree of a main tier: words, groups ``<...>`` and markers, with the codes that follow them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lsa_whisper.chat.disfluencies import RETRACE_CODES
from lsa_whisper.chat.scan import SOLID

MAX_GROUP_DEPTH = 32
"""Real transcripts nest groups three deep; a deeper ``<`` is kept as an opaque marker."""


@dataclass(slots=True)
class Word:
    """A written word with the codes ``[...]`` that follow it."""

    text: str
    offset: int
    codes: tuple[str, ...] = ()


@dataclass(slots=True)
class Group:
    """``<...>`` with the codes that follow it."""

    offset: int
    items: list[Item] = field(default_factory=list)
    codes: tuple[str, ...] = ()


@dataclass(slots=True)
class Marker:
    """Any other item: pause, terminator, linker, separator, intonation, free code, bullet or opaque character."""

    kind: str
    text: str
    offset: int


Item = Word | Group | Marker


def walk(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items in their order, each group before what is inside it."""
    for item in items:
        yield item
        if isinstance(item, Group):
            yield from walk(item.items)


class MarkFault(NamedTuple):
    """A syntax error in a main tier."""

    offset: int
    code: str
    message: str


@dataclass(slots=True)
class Tree:
    """The items of a main tier, and its syntax errors."""

    items: list[Item]
    faults: list[MarkFault]


_EVENT_PREFIXES = ("&=", "&{", "&}")
_FREE = ("[+", "[-", "[^")
_MISPLACED = ("opaque", "open", "close")
_FAULTS = {"[": "unmatched-bracket", "]": "unmatched-bracket", "<": "unclosed-group", ">": "unmatched-close"}


def build_tree(text: str) -> Tree:
    """Return the tree of a main tier's ``text`` (without speaker). Never raises.

    >>> tree = build_tree("<I want> [/] I want it .")
    >>> tree.items[0].codes, [item.text for item in tree.items[1:]]
    (('[/]',), ['I', 'want', 'it', '.'])
    """
    items: list[Item] = []
    target: Word | Group | None = None  # what a code [...] applies to; pauses and events in between are skipped
    stack: list[tuple[list[Item], Group]] = []  # open groups, and the item lists that contain them
    faults: list[MarkFault] = []
    for match in SOLID.finditer(text.rstrip()):
        kind = match.lastgroup or "opaque"
        piece, offset = match[kind], match.start(kind)
        if kind == "word":
            word = Word(piece, offset)
            items.append(word)
            if piece[0] != "&" or not piece.startswith(_EVENT_PREFIXES):
                target = word
        elif kind == "code":
            if target is None or piece.startswith(_FREE):
                items.append(Marker("free", piece, offset))
                if piece in RETRACE_CODES:
                    faults.append(MarkFault(offset, "retrace-without-words", f"{piece} follows no word"))
            else:
                target.codes += (piece,)
        elif kind == "open" and len(stack) < MAX_GROUP_DEPTH:
            group = Group(offset)
            stack.append((items, group))
            items.append(group)
            items, target = group.items, None
        elif kind == "close" and stack:
            items, target = stack.pop()
        else:
            items.append(Marker(kind, piece, offset))
            if kind in _MISPLACED:
                faults.append(MarkFault(offset, _FAULTS.get(piece, "opaque"), f"cannot read {piece!r}"))
    for outer, group in reversed(stack):
        outer[-1:] = [Marker("opaque", "<", group.offset), *group.items]
        faults.append(MarkFault(group.offset, "unclosed-group", "'<' has no '>'"))
        items = outer
    return Tree(items, faults)
