"""ELAN annotation format: tiers by speaker or role, with the tiers that depend on them.

A tier without a parent is a speaker's. Where a template has a tier of identifiers above the text (``ref@A`` above
``tx@A``), the text is taken from below. Tiers of words become ``%wor``; other dependent tiers, and those of
controlled vocabularies, become dependent tiers. Of several recordings, the first is the one that the times belong to:
they count from its beginning, also where the document leaves that out.
Time slots without a value are read evenly between the others, as ELAN shows them.

pympi-ling is not used: a missing attribute or time slot is a bare ``KeyError`` there, without the line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import line_of, parse_xml
from lsa_whisper.formats.reading.source import MAX_DURATION_S, Source, span_of_seconds, without_damaged_times
from lsa_whisper.formats.reading.tiers import TEXT_TIERS, TextTier, TierText, join_tiers
from lsa_whisper.timespan import TimeSpan

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_Point = list[str]
"""The slots of one point in time."""


def interpolate_slots(slots: dict[str, int | None], pairs: Sequence[tuple[str, str]]) -> None:
    """Give the slots of one tier that have no value times, evenly spaced between the nearest known ones.

    Before the first and behind the last known slot of the tier, the nearest known slot of the document bounds them;
    without one they stay unknown. ``slots`` has the time of each in milliseconds, in the order of the document, and is
    changed; ``pairs`` has the two slots of each annotation of the tier, in order.

    >>> slots = {"a": 1000, "b": None, "c": 3000, "d": None}
    >>> interpolate_slots(slots, [("a", "b"), ("b", "c"), ("c", "d")])
    >>> slots
    {'a': 1000, 'b': 2000, 'c': 3000, 'd': None}
    """
    if all(slots[name] is not None for pair in pairs for name in pair):
        return
    run: list[_Point] = []
    before: int | None = None
    for point in _points(slots, pairs):
        value = slots[point[0]]
        if value is None:
            run.append(point)
        elif run:
            _fill(slots, run, _bound(slots, run[0][0], before, value), value)
            run = []
        before = before if value is None else value
    if run:
        after = next((time for name in _behind(slots, run[-1][-1]) if (time := slots[name]) is not None), None)
        _fill(slots, run, before if after is None else _bound(slots, run[0][0], before, after), after)


def _points(slots: Mapping[str, int | None], pairs: Sequence[tuple[str, str]]) -> list[_Point]:
    """Return the points of a tier; an end and the next start are one point if neither has a value."""
    points: list[_Point] = []
    for start, end in pairs:
        last = points[-1] if points else []
        if start not in last:
            if last and slots[start] is None and slots[last[0]] is None:
                last.append(start)
            else:
                points.append([start])
        points.append([end])
    return points


def _behind(slots: Mapping[str, int | None], last: str) -> Iterator[str]:
    names = iter(slots)
    for name in names:
        if name == last:
            break
    return names


def _bound(slots: Mapping[str, int | None], first: str, before: int | None, after: int) -> int | None:
    """Return the time before a run: that of the tier, else of the last known slot above it in the document."""
    if before is not None:
        return before if before < after else None
    for name, value in slots.items():
        if name == first:
            break
        before = value if value is not None else before
    return before if before is not None and before < after else None


def _fill(slots: dict[str, int | None], run: Sequence[_Point], before: int | None, after: int | None) -> None:
    if before is None or after is None:
        return
    for at, point in enumerate(run, start=1):
        for name in point:
            slots[name] = before + round((after - before) * at / (len(run) + 1))


def read_media(descriptors: Sequence[Element], source: Source) -> None:
    """Take name and kind of the first recording, and note the others, and where the times do not begin with these."""
    names = [_file_name(descriptor) for descriptor in descriptors]
    for name, descriptor in zip(names[1:], descriptors[1:], strict=True):
        if origin_ms := _origin_ms(descriptor):
            source.notes.append(f"{name or 'a recording'} begins {origin_ms} ms before the times of the document")
    if names:
        source.media = names[0].rpartition(".")[0] or None
        source.media_kind = "video" if descriptors[0].get("MIME_TYPE", "").startswith("video/") else "audio"
    if len(names) > 1:
        source.notes.append(f"of several recordings, @Media names {names[0]}; the others: {', '.join(names[1:])}")


def _origin_ms(descriptor: Element) -> int:
    origin = descriptor.get("TIME_ORIGIN", "")
    return int(origin) if re.fullmatch("[0-9]{1,10}", origin) else 0


def _file_name(descriptor: Element) -> str:
    url = descriptor.get("RELATIVE_MEDIA_URL") or descriptor.get("MEDIA_URL") or ""
    return unquote(re.split(r"[\\/]", url)[-1])


HEADER_PROPERTY = "CHAT header"
"""The property of an ELAN document that holds one header line of CHAT."""

_IDENTIFIERS = re.compile(r".+[_-](?:ref|id|rf)", re.IGNORECASE)
"""A tier of identifiers, above the text in templates that write ``A_ref`` and ``A_tx``."""


@dataclass(frozen=True)
class _Annotation:
    """An annotation: its text and tier, its two time slots, or the annotation that it depends on."""

    text: str
    tier: str
    slots: tuple[str, str] | None = None
    parent: str | None = None


_Annotations = dict[str, _Annotation]


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in an ELAN document; annotations whose times are damaged keep their text.

    Raises:
        FormatError: It is not an ELAN document, or damaged.
    """
    root = parse_xml(data, place)
    if root.tag != "ANNOTATION_DOCUMENT":
        raise FormatError(f"{place}: is not an ELAN document, its first element is {root.tag[:40]!r}; check the file")

    def line(name: str) -> str:  # sought only for a message: the search reads the file from its beginning
        return f"{place}:{line_of(data, name)}"

    source = Source(Path(place).stem)
    media = list(root.iter("MEDIA_DESCRIPTOR"))
    skipped_ms = sum(map(_origin_ms, media[:1]))
    with without_damaged_times(source.notes):
        times = ((name, slot.get("TIME_VALUE")) for name, slot in _named(root, "TIME_SLOT"))
        slots = {name: _time_ms(value, name, line, skipped_ms) for name, value in times}
    tiers = dict(_named(root, "TIER"))
    annotations: _Annotations = {}
    for tier_name, tier in tiers.items():
        for node in [*tier.iter("ALIGNABLE_ANNOTATION"), *tier.iter("REF_ANNOTATION")]:
            name = node.get("ANNOTATION_ID", "")
            if name in annotations:  # of documents that were merged
                name = f"{name} ({len(annotations)})"
            annotations[name] = _annotation(node, name, tier_name)
    _add_missing(slots, annotations, source, line)
    _interpolate(slots, annotations, source)
    with without_damaged_times(source.notes):
        spans = {name: _span(item, name, slots, line) for name, item in annotations.items()}
    source.headers = [node.text for node in root.iter("PROPERTY") if node.get("NAME") == HEADER_PROPERTY and node.text]
    source.notation = "chat" if source.headers else "auto"
    read_media(media, source)
    types = {name for name, node in _named(root, "LINGUISTIC_TYPE") if node.get("CONTROLLED_VOCABULARY_REF")}
    join_tiers(list(_text_tiers(tiers, annotations, spans, types, place)), source, conventions)
    return [source]


def _named(root: Element, tag: str) -> Iterator[tuple[str, Element]]:
    return ((node.get(f"{tag}_ID", ""), node) for node in root.iter(tag))


def _time_ms(value: str | None, name: str, line: Callable[[str], str], skipped_ms: int) -> int | None:
    if value is None or (re.fullmatch(r"[0-9]{1,10}", value) and int(value) <= MAX_DURATION_S * 1000):
        return None if value is None else int(value) + skipped_ms
    span_of_seconds(f"{value[:30]} ms", 0, line(name))  # which names it
    return None


def _annotation(node: Element, name: str, tier: str) -> _Annotation:
    value = node.find("ANNOTATION_VALUE")
    text = "" if value is None else "".join(value.itertext()).strip()
    if node.tag == "REF_ANNOTATION":
        return _Annotation(text, tier, None, node.get("ANNOTATION_REF"))
    start, end = node.get("TIME_SLOT_REF1"), node.get("TIME_SLOT_REF2")
    return _Annotation(text, tier, (start or f"start of {name}", end or f"end of {name}"))


def _add_missing(
    slots: dict[str, int | None], annotations: _Annotations, source: Source, line: Callable[[str], str]
) -> None:
    """Add the time slots that annotations name and the document lacks, without a value, and note them."""
    missing = [(slot, name) for name, item in annotations.items() for slot in item.slots or () if slot not in slots]
    if missing:
        slots.update(dict.fromkeys(slot for slot, _ in missing))
        slot, name = missing[0]
        first = f"first {slot} of annotation {name} at {line(name)}"
        source.notes.append(f"time slots that are named but missing: {len(dict(missing))}, {first}")


def _interpolate(slots: dict[str, int | None], annotations: _Annotations, source: Source) -> None:
    """Give the slots without a value times between those of their neighbours in the tier."""
    missing = sum(value is None for value in slots.values())
    if not missing:
        return
    by_tier: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for annotation in annotations.values():
        if annotation.slots:
            by_tier[annotation.tier].append(annotation.slots)
    for pairs in by_tier.values():
        interpolate_slots(slots, pairs)
    still = sum(value is None for value in slots.values())
    source.notes.append(
        f"time slots without a value: {missing}, of which {missing - still} are placed evenly between their neighbours"
    )


def _span(item: _Annotation, name: str, slots: Mapping[str, int | None], line: Callable[[str], str]) -> TimeSpan | None:
    start_ms, end_ms = (slots[slot] for slot in item.slots) if item.slots else (None, None)
    if start_ms is None or end_ms is None:
        return None
    if end_ms < start_ms:
        return span_of_seconds(start_ms / 1000, end_ms / 1000, f"{line(name)}: annotation {name}")
    return TimeSpan(start_ms, end_ms)


def _text_tiers(
    tiers: Mapping[str, Element],
    annotations: _Annotations,
    spans: Mapping[str, TimeSpan | None],
    types: set[str],
    place: str,
) -> Iterator[TextTier]:
    """Yield each tier with its texts; a dependent text has the times of what it depends on."""
    by_tier: dict[str, list[TierText]] = defaultdict(list)
    for name, item in annotations.items():
        chain: list[str] = []
        span, above = spans[name], item
        while above.parent in annotations and above.parent not in (name, *chain):
            chain.append(above.parent)
            span, above = span or spans[above.parent], annotations[above.parent]
        text = TierText("", item.text, span, place=place, name=name, holders=tuple(chain), timed=item.slots is not None)
        by_tier[item.tier].append(text)
    parents = {name: tier.get("PARENT_REF") for name, tier in tiers.items()}
    replaced: set[str | None] = {parent for name, parent in parents.items() if parent and _is_text(name, parents)}
    codes = {name for name, tier in tiers.items() if tier.get("LINGUISTIC_TYPE_REF") in types}
    for name, tier in tiers.items():
        own_text = _is_text(name, parents)
        root = own_text or (parents[name] is None and name not in replaced | codes)
        own = re.sub(r"[_-][^_-]+\Z", "", name) if own_text else name
        speaker = tier.get("PARTICIPANT") or name.partition("@")[2] or own
        parent = _utterance_tier(name, parents, replaced)
        parent = _tier_of(speaker, tiers, codes) if name in codes and parent == name else parent
        yield TextTier(name, speaker, by_tier[name], "utterance" if root else "", parent, ignored=name in replaced)


def _tier_of(speaker: str, tiers: Mapping[str, Element], codes: set[str]) -> str:
    """Return the tier of a ``speaker``'s words, for a tier of codes that depends on none by itself."""
    own = (name for name, tier in tiers.items() if name not in codes and not tier.get("PARENT_REF"))
    return next((name for name in own if speaker in (tiers[name].get("PARTICIPANT"), name)), "")


def _is_text(name: str, parents: Mapping[str, str | None]) -> bool:
    """Return whether a tier has the text of the tier above it, by its name: ``tx@A``, or ``A_tx`` below ``A_ref``."""
    parent = parents[name]
    if "@" not in name and not _IDENTIFIERS.fullmatch(parent or ""):
        return False
    kind = name.partition("@")[0] if "@" in name else re.split("[_-]", name)[-1]
    return parent is not None and kind.casefold() in TEXT_TIERS


def _utterance_tier(name: str, parents: Mapping[str, str | None], replaced: set[str | None]) -> str:
    """Return the name of the speaker's tier that the tier ``name`` depends on."""
    seen, above = set[str](), name
    while (parent := parents.get(above)) and parent not in seen:
        seen.add(parent)
        above = parent
    if above in replaced:
        return next((child for child, parent in parents.items() if parent == above and _is_text(child, parents)), above)
    return above
