"""ELAN annotation format: tiers by speaker or role, with the tiers that depend on them.

A tier without a parent is a speaker's. Where a template has a tier of identifiers above the text (``ref@A`` above
``tx@A``), the text is taken from below. Tiers of words become ``%wor``; other dependent tiers stay dependent tiers.

pympi-ling is not used: a missing attribute or time slot is a bare ``KeyError`` there, without the line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.source import MAX_DURATION_S, Source, SpokenText
from lsa_whisper.formats.reading.tiers import TextTier, join_tiers
from lsa_whisper.formats.reading.xml import line_of, parse_xml
from lsa_whisper.timespan import TimeSpan

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

HEADER_PROPERTY = "CHAT header"
"""The property of an ELAN document that holds one header line of CHAT."""

_TEXT_TIERS = frozenset(("tx", "txt", "text", "utt", "utterance", "orth", "ort", "trs", "transcription", "transcript"))


@dataclass
class _Annotation:
    text: str
    span: TimeSpan | None
    parent: str | None
    tier: str


@dataclass
class _Document:
    slots: dict[str, int | None] = field(default_factory=dict)
    annotations: dict[str, _Annotation] = field(default_factory=dict)


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in an ELAN document.

    Raises:
        FormatError: It is no ELAN document, or damaged.
    """
    root = parse_xml(data, place)
    if root.tag != "ANNOTATION_DOCUMENT":
        raise FormatError(f"{place}: is no ELAN document, its first element is {root.tag[:40]!r}; check the file")
    document = _Document()
    for slot in root.iter("TIME_SLOT"):
        name = slot.get("TIME_SLOT_ID", "")
        document.slots[name] = _time_ms(slot.get("TIME_VALUE"), f"{place}:{line_of(data, name)}")
    tiers = {tier.get("TIER_ID", ""): tier for tier in root.iter("TIER")}
    for name, tier in tiers.items():
        for each in [*tier.iter("ALIGNABLE_ANNOTATION"), *tier.iter("REF_ANNOTATION")]:
            _add(document, each, name, data, place)
    source = Source(Path(place).stem)
    source.headers = [each.text for each in root.iter("PROPERTY") if each.get("NAME") == HEADER_PROPERTY and each.text]
    media = next((each for each in root.iter("MEDIA_DESCRIPTOR")), None)
    url = media.get("RELATIVE_MEDIA_URL") or media.get("MEDIA_URL") or "" if media is not None else ""
    source.media = re.split(r"[\\/]", url)[-1].rpartition(".")[0] or None
    join_tiers(list(_text_tiers(tiers, document, place)), source, conventions)
    return [source]


def _time_ms(value: str | None, place: str) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,10}", value) or int(value) > MAX_DURATION_S * 1000:
        raise FormatError(f"{place}: TIME_VALUE {value[:40]!r} is no time in milliseconds; correct it")
    return int(value)


def _add(document: _Document, each: Element, tier: str, data: bytes, place: str) -> None:
    name = each.get("ANNOTATION_ID", "")
    value = each.find("ANNOTATION_VALUE")
    text = "" if value is None else "".join(value.itertext())
    start, end = each.get("TIME_SLOT_REF1"), each.get("TIME_SLOT_REF2")
    span = None
    if each.tag == "ALIGNABLE_ANNOTATION":
        for slot in (start, end):
            if slot not in document.slots:
                raise FormatError(
                    f"{place}:{line_of(data, name)}: annotation {name} names the time slot {slot}, which is missing"
                    "; open the file in ELAN and save it again"
                )
        start_ms, end_ms = document.slots[start or ""], document.slots[end or ""]
        if start_ms is not None and end_ms is not None:
            if end_ms < start_ms:
                raise FormatError(
                    f"{place}:{line_of(data, name)}: annotation {name} ends before it starts; correct its times"
                )
            span = TimeSpan(start_ms, end_ms)
    document.annotations[name] = _Annotation(text.strip(), span, each.get("ANNOTATION_REF"), tier)


def _text_tiers(tiers: Mapping[str, Element], document: _Document, place: str) -> Iterator[TextTier]:
    """Yield each tier with its texts; a dependent text has the times of what it depends on."""
    by_tier: dict[str, list[SpokenText]] = defaultdict(list)
    for name, each in document.annotations.items():
        span, seen, above = each.span, {name}, each
        while span is None and above.parent in document.annotations and above.parent not in seen:
            seen.add(str(above.parent))
            above = document.annotations[str(above.parent)]
            span = above.span
        by_tier[each.tier].append(SpokenText("", each.text, span, place=place))
    parents = {name: tier.get("PARENT_REF") for name, tier in tiers.items()}
    replaced: set[str | None] = {parent for name, parent in parents.items() if parent and _prefix(name) in _TEXT_TIERS}
    for name, tier in tiers.items():
        own_text = _prefix(name) in _TEXT_TIERS and parents[name] is not None
        root = own_text or (parents[name] is None and name not in replaced)
        speaker = tier.get("PARTICIPANT") or name.partition("@")[2] or name
        parent = _utterance_tier(name, parents, replaced)
        yield TextTier(name, speaker, by_tier[name], "utterance" if root else "", parent, ignored=name in replaced)


def _prefix(name: str) -> str:
    return name.partition("@")[0].casefold() if "@" in name else ""


def _utterance_tier(name: str, parents: Mapping[str, str | None], replaced: set[str | None]) -> str:
    """Return the name of the speaker's tier that the tier ``name`` depends on."""
    seen: set[str] = set()
    above = name
    while (parent := parents.get(above)) and parent not in seen:
        seen.add(parent)
        above = parent
    if above in replaced:
        below = (each for each, parent in parents.items() if parent in replaced and _prefix(each) in _TEXT_TIERS)
        return next((each for each in below if each.partition("@")[2] == name.partition("@")[2]), above)
    return above
