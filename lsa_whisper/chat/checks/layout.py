"""Checks of lines as such: the colon, the tab after it, and no tabs elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.model import Transcript

_NAMED = re.compile(r"\ufeff?[@*%][^:\r\n\t]*:")
_CONTINUED = re.compile(r"(?:\r\n?|\n)\t")


def layout_problems(transcript: Transcript) -> Iterator[Problem]:
    """Yield the lines whose colon is not followed by one tab, and tabs within lines."""
    for block in transcript.blocks:
        if isinstance(block, Line):
            yield from _line(transcript.path, block)
            continue
        yield from _line(transcript.path, Line(block.main, block.line or 1))
        for tier in block.tiers:
            yield from _line(transcript.path, tier if tier.number else Line(tier.raw, block.line or 1))


def _line(path: str | None, line: Line) -> Iterator[Problem]:
    named = _NAMED.match(line.raw)
    start = named.end() if named else 0
    rest = line.raw[start:]
    if named and rest.strip() and not rest.startswith("\t"):
        found = "a space" if rest.startswith(" ") else "no tab"
        yield Problem(path, *line.place(start), "no-tab", f"{found} follows the colon")
    if "\t" in rest:
        bare = _CONTINUED.sub(lambda match: " " * len(match[0]), rest[1:] if rest.startswith("\t") else rest)
        if "\t" in bare:
            offset = start + bare.index("\t") + rest.startswith("\t")
            yield Problem(path, *line.place(offset), "extra-tab", "a tab within a line")
