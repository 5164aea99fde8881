"""Rows of times and text, parted by tabs: the labels of Audacity, and ELAN's export as tab-separated text.

Audacity writes begin, end and text; ELAN writes tier, participant, the times in one or more units, and text. Each tier
of ELAN is one here (:mod:`lsa_whisper.formats.reading.tiers`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.source import Source, span_of_seconds
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
