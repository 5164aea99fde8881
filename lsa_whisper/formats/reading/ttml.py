"""TTML and DFXP (``.ttml``, ``.dfxp``): paragraphs with times, and the people who say them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import parse_xml
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.subtitles import turns_in
from lsa_whisper.timespan import TimeSpan

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CLOCK = re.compile(r"(\d{1,3}):(\d{1,2}):(\d{1,2}(?:[.,]\d+)?)(?::(\d{1,3}))?")
_OFFSET = re.compile(r"(\d+(?:\.\d+)?)(h|m|s|ms|f|t)")
_UNITS_MS = {"h": 3_600_000.0, "m": 60_000.0, "s": 1000.0, "ms": 1.0}


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a TTML document; paragraphs whose times cannot be read have none, and a note says so.

    Raises:
        FormatError: It is not TTML, or damaged.
    """
    root = parse_xml(data, place)
    if _name(root.tag) != "tt":
        raise FormatError(f"{place}: is not TTML, its first element is {root.tag[:40]!r}; check the file")
    source = Source(Path(place).stem, notation="plain", has_segments=True)
    source.language = next((code for key, code in root.items() if _name(key) == "lang" and code), None)
    agents = [node for node in root.iter() if _name(node.tag) == "agent"]
    people = {value: _text(node) for node in agents for key, value in node.items() if _name(key) == "id"}
    units = _units(root)
    untimed = 0
    for paragraph, offset_ms in _paragraphs(root, units, 0.0):
        if not (text := _text(paragraph)):
            continue
        span = _span(paragraph, units, offset_ms)
        untimed += span is None
        agent = _values(paragraph).get("agent", "")
        source.spoken += turns_in(text, span, place, people.get(agent) or agent)
    if untimed:
        source.notes.append(f"paragraphs without times that can be read: {untimed}")
    return [source]


def _name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _text(node: Element) -> str:
    pieces = [node.text or ""]
    for child in node:
        pieces += [
            "\x1f" if _name(child.tag) == "br" else _text(child) if _name(child.tag) != "metadata" else "",
            child.tail or "",
        ]
    lines = "".join(pieces).replace("\n", " ").replace("\x1f", "\n").split("\n")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _units(root: Element) -> dict[str, float]:
    """Return the length of each unit of time in milliseconds; the document gives those of frames and ticks."""
    rates = {_name(key): value for key, value in root.items()}
    lengths = dict(_UNITS_MS)
    for unit, rate, usual in (("f", "frameRate", 30.0), ("t", "tickRate", 1.0)):
        value = rates.get(rate, "")
        lengths[unit] = 1000 / (float(value) if re.fullmatch(r"[1-9]\d{0,9}", value) else usual)
    return lengths


def _values(node: Element) -> dict[str, str]:
    return {_name(key): value for key, value in node.items()}


def _paragraphs(node: Element, units: dict[str, float], offset_ms: float) -> Iterator[tuple[Element, float]]:
    """Yield the paragraphs, and when what they stand in begins: their times count from there."""
    if _name(node.tag) == "p":
        yield node, offset_ms
        return
    begin = _milliseconds(_values(node).get("begin", ""), units) or 0.0
    for child in node:
        yield from _paragraphs(child, units, offset_ms + begin)


def _span(node: Element, units: dict[str, float], offset_ms: float) -> TimeSpan | None:
    """Return the times of a paragraph; one without has those of its first and last part."""
    values = _values(node)
    start, end = _milliseconds(values.get("begin", ""), units), _milliseconds(values.get("end", ""), units)
    length = _milliseconds(values.get("dur", ""), units)
    if start is not None and end is None and length is not None:
        end = start + length
    if start is not None and end is not None:
        return TimeSpan(round(offset_ms + start), round(offset_ms + end)) if start <= end else None
    parts = [span for child in node if (span := _span(child, units, offset_ms + (start or 0.0)))]
    return parts[0] | parts[-1] if parts else None


def _milliseconds(text: str, units: dict[str, float]) -> float | None:
    if match := _CLOCK.fullmatch(text.strip()):
        hours, minutes, seconds, frames = match.groups()
        return (
            3_600_000 * int(hours)
            + 60_000 * int(minutes)
            + 1000 * float(seconds.replace(",", "."))
            + int(frames or 0) * units["f"]
        )
    match = _OFFSET.fullmatch(text.strip())
    return float(match.group(1)) * units[match.group(2)] if match else None
