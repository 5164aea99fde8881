"""Praat TextGrid: one interval tier for each speaker, and tiers of words and of dependent tiers if there are some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.readable_text import dependent_tiers, placed_utterances

_Interval = tuple[int, int, str]


def serialize(transcript: Transcript) -> str:
    """Return a TextGrid in Praat's long text format; the utterances keep their CHAT marks."""
    rows = placed_utterances(transcript)
    end_ms = max((end for _, end, _ in rows), default=1)
    tiers: dict[str, list[_Interval]] = {}
    for start, end, each in rows:
        tiers.setdefault(each.speaker, []).append((start, end, each.text))
        for word, at in each.word_times:
            tiers.setdefault(f"{each.speaker} words", []).append((at.start_ms, at.end_ms, word))
        for name, value in dependent_tiers(each).items():
            tiers.setdefault(f"{name}@{each.speaker}", []).append((start, end, value))
    head = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
    head += f"xmin = 0\nxmax = {end_ms / 1000:.3f}\ntiers? <exists>\nsize = {len(tiers)}\nitem []:\n"
    return head + "".join(_tier(n, name, tiers[name], end_ms) for n, name in enumerate(tiers, start=1))


def _tier(number: int, name: str, readable_text: Iterable[_Interval], end_ms: int) -> str:
    intervals = list(_filled(readable_text, end_ms))
    head = f'    item [{number}]:\n        class = "IntervalTier"\n        name = "{name}"\n'
    head += f"        xmin = 0\n        xmax = {end_ms / 1000:.3f}\n        intervals: size = {len(intervals)}\n"
    return head + "".join(
        f"        intervals [{n}]:\n            xmin = {start / 1000:.3f}\n            xmax = {end / 1000:.3f}\n"
        f'            text = "{text.replace(chr(34), chr(34) * 2)}"\n'
        for n, (start, end, text) in enumerate(intervals, start=1)
    )


def _filled(readable_text: Iterable[_Interval], end_ms: int) -> Iterator[_Interval]:
    """Yield the intervals with empty ones between them, because Praat allows no gaps and no overlaps."""
    at = 0
    for start, end, text in readable_text:
        start = max(start, at)
        if start >= end:
            continue
        if start > at:
            yield at, start, ""
        yield start, end, text
        at = end
    if at < end_ms:
        yield at, end_ms, ""
