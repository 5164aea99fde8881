"""Rows of times and text, parted by tabs: the ``.tsv`` of openai-whisper, Audacity's labels, and ELAN's export as text.

openai-whisper writes the names of its columns above them, and times in milliseconds. Audacity writes begin, end and
text; ELAN writes tier, participant, the times in one or more units, and text. Each tier of ELAN is one here
(:mod:`lsa_whisper.formats.reading.tiers`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.formats.reading.tiers import TextTier, TierText, join_tiers
from lsa_whisper.timespan import TimeSpan

_UNITS = tuple(map(re.compile, (r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,:]\d{1,3}", r"\d{1,6}[.,]\d{1,9}", r"\d{1,9}")))
"""The times of one row: clocks, else seconds, else milliseconds."""
_MILLISECONDS = 2


def read_rows(lines: Sequence[tuple[int, str]], place: str, source: Source, conventions: Conventions) -> bool:
    """Add what the numbered ``lines`` say to ``source``; return whether all of them are rows with two times."""
    rows = [(number, _row(line.split("\t"), f"{place}:{number}")) for number, line in lines]
    if not rows or not all(row for _, row in rows):
        return False
    tiers: dict[str, list[TierText]] = {}
    speakers: dict[str, str] = {}
    for number, row in rows:
        if row and row[3]:
            name, speaker, span, text = row
            speakers.setdefault(name, speaker)
            tiers.setdefault(name, []).append(TierText("", text, span, place=f"{place}:{number}"))
    text_tiers = [TextTier(name, speakers[name], texts, "utterance", name) for name, texts in tiers.items()]
    join_tiers(text_tiers, source, conventions)
    return True


def _row(fields: Sequence[str], place: str) -> tuple[str, str, TimeSpan | None, str] | None:
    """Return tier, speaker, times and text of a row; ``None`` if it has no two times before its text."""
    *others, text = (field.strip() for field in fields)
    for unit, pattern in enumerate(_UNITS):
        times = [field.replace(",", ".") for field in others if pattern.fullmatch(field)]
        if len(times) >= 2:
            start, end = (f"{time}e-3" if unit == _MILLISECONDS else time for time in times[:2])
            names = [field for field in others if field and not any(form.fullmatch(field) for form in _UNITS)]
            return names[0] if names else "", names[-1] if names else "", span_of_seconds(start, end, place), text
    return None


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a table with the columns ``start``, ``end`` and ``text``, and perhaps ``speaker``.

    Times with a point are in seconds.

    Raises:
        FormatError: It has other columns, or a damaged time.
    """
    lines = decode_bytes(data, place).split("\n")
    names = [name.strip().casefold() for name in lines[0].split("\t")]
    if not {"start", "end", "text"} <= set(names):
        raise FormatError(f"{place}:1: a table needs the columns start, end and text, parted by tabs; rename them")
    in_seconds = any("." in value for line in lines[1:] for value in _times(line, names))
    source = Source(Path(place).stem, notation="plain", has_segments=True)
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        here = f"{place}:{number}"
        values = line.split("\t")
        if len(values) < len(names):
            raise FormatError(f"{here}: has {len(values)} of {len(names)} columns; complete it")
        if names[-1] == "text":  # which may hold tabs
            values[len(names) - 1 :] = [" ".join(values[len(names) - 1 :])]
        row = dict(zip(names, values, strict=False))
        start, end = (f"{row[name].strip()}{'' if in_seconds else 'e-3'}" for name in ("start", "end"))
        span = span_of_seconds(start, end, here)
        if row["text"].strip():
            source.spoken.append(SpokenText(row.get("speaker", "").strip(), row["text"].strip(), span, place=here))
    return [source]


def _times(line: str, names: list[str]) -> list[str]:
    pairs = zip(names, line.split("\t"), strict=False)
    return [value for name, value in pairs if name in ("start", "end")]
