"""Praat TextGrid: one interval tier for each speaker, and tiers of words."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats import textgrid
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.tiers import TextTier, TierText, join_tiers
from lsa_whisper.timespan import TimeSpan

_SILENCE = frozenset(("sil", "sp", "<sil>", "<sp>", "<eps>", "<p:>", "#", "_", "silence", "silent", "<silence>"))
"""What aligners and Praat write into an interval without speech."""
_UNKNOWN = "spn"
"""What they write for a word that they do not know."""


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a TextGrid; Praat itself writes UTF-8 or UTF-16.

    Raises:
        FormatError: It is not a TextGrid, or damaged.
    """
    text = decode_bytes(data, place)
    try:
        points: textgrid.Tiers = {}
        intervals = textgrid.parse(text, strict=True, points=points)
    except textgrid.TextGridError as error:
        line = text.count("\n", 0, error.offset) + 1
        raise FormatError(
            f"{place}:{line}: is not a complete TextGrid ({error}); save it in Praat as a text file"
        ) from error
    source = Source(Path(place).stem)
    tiers = [
        TextTier(name, name, [_text(label, span, place) for span, label in texts], "utterance", name)
        for name, texts in intervals.items()
    ]
    only = next(iter(intervals), "") if len(intervals) == 1 else ""
    tiers += [
        TextTier(name, "", [TierText("", mark, at, place=place) for at, mark in marks], "", only)
        for name, marks in points.items()
        if name not in intervals
    ]
    join_tiers(tiers, source, conventions)
    return [source]


def _text(label: str, span: TimeSpan, place: str) -> TierText:
    name = label.casefold()
    return TierText("", "" if name in _SILENCE else "<unk>" if name == _UNKNOWN else label, span, place=place)
