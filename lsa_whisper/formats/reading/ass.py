"""Advanced SubStation Alpha (``.ass``, ``.ssa``): the dialogue lines, with their speakers."""

from __future__ import annotations

import re
from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.subtitles import turns_in
from lsa_whisper.timespan import TimeSpan

_CLOCK = re.compile(r"\s*(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?\s*")
_OVERRIDE = re.compile(r"\{[^{}]*\}")
_BREAK = re.compile(r"\\[Nn]")


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a subtitle script; lines whose times are damaged keep their text, and a note names them.

    Raises:
        FormatError: It has no list of fields, or no dialogue.
    """
    source = Source(Path(place).stem, notation="plain", has_segments=True)
    columns: list[str] = []
    untimed: list[str] = []
    for number, line in enumerate(decode_bytes(data, place).split("\n"), start=1):
        kind, _, value = line.partition(":")
        if kind == "Format" and "text" in value.casefold():
            columns = [name.strip().casefold() for name in value.split(",")]
        elif kind in ("Dialogue", "Comment") and columns:
            row = dict(zip(columns, value.split(",", len(columns) - 1), strict=False))
            span = _span(row.get("start", ""), row.get("end", ""))
            lines = _BREAK.sub("\n", _OVERRIDE.sub("", row.get("text", "")).replace("\\h", " ")).split("\n")
            text = "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
            if kind == "Comment":
                source.comments += [text.replace("\n", " ")] if text else []
                continue
            untimed += [] if span else [str(number)]
            if text:
                name = row.get("name", row.get("actor", "")).strip()
                source.spoken += turns_in(text, span, f"{place}:{number}", name)
    if not source.spoken:
        raise FormatError(
            f"{place}:1: has no line such as 'Dialogue: 0,0:00:01.00,0:00:02.50,...'; is it a subtitle script?"
        )
    if untimed:
        source.notes.append(f"a time cannot be read, and the dialogue has no times: line {', '.join(untimed[:5])}")
    return [source]


def _span(start: str, end: str) -> TimeSpan | None:
    times = [_CLOCK.fullmatch(text) for text in (start, end)]
    if not all(times):
        return None
    first, last = (
        3_600_000 * int(at[1]) + 60_000 * int(at[2]) + 1000 * int(at[3]) + int((at[4] or "0").ljust(3, "0"))
        for at in times
        if at
    )
    return TimeSpan(first, last) if first <= last else None
