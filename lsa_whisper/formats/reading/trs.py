"""Transcriber (``.trs``): turns of speakers, cut at synchronization points; events and background as comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.chat.codes import SEXES
from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import parse_xml
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DOCTYPE = re.compile(rb'<!DOCTYPE\s+Trans\s+SYSTEM\s+"[\w.-]{1,40}"\s*>')
"""The document type that Transcriber writes: a name only. One with entities is refused like any other."""
_SOUNDS = {
    "r": "breath",
    "i": "breath",
    "n": "sniff",
    "bb": "lip smack",
    "rire": "laugh",
    "b": "noise",
    "tx": "cough",
    "e": "noise",
    "nontrans": "untranscribed",
}
"""The codes of Transcriber's events that mean something else than they say."""

_UNINTELLIGIBLE = ("pi", "pif")
_CUT_OFF = re.compile(r"(?<=[^\W\d_])\(\)(?!\w)")
"""What stands behind a word that is cut off: ``ci()``."""

_CODED = ("pronounce", "lexical", "language", "entities")
"""The types of events that describe words, not sounds."""


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a file of Transcriber.

    Raises:
        FormatError: It is none, or damaged.
    """
    root = parse_xml(_DOCTYPE.sub(b"", data, count=1), place)
    if root.tag != "Trans":
        raise FormatError(
            f"{place}: is not a file of Transcriber, its first element is {root.tag[:40]!r}; check the file"
        )
    source = Source(Path(place).stem, notation="plain")
    source.media = root.get("audio_filename") or None
    language = root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    source.language = language if re.fullmatch(r"[A-Za-z]{2,3}", language) else None
    ids = [(node.get("id", ""), node.get("name", "")) for node in root.iter("Speaker")]
    names = {code: name or code for code, name in ids}
    sexes = {names.get(node.get("id", ""), ""): node.get("type", "") for node in root.iter("Speaker")}
    source.people = {name: {"sex": sex} for name, sex in sexes.items() if sex in SEXES}
    source.comments = [f"topic: {node.get('desc')}" for node in root.iter("Topic") if node.get("desc")]
    for turn in root.iter("Turn"):
        source.spoken += _turn(turn, names, place)
    return [source]


def _turn(turn: Element, names: dict[str, str], place: str) -> Iterator[SpokenText]:
    """Yield the stretches of a turn; in one of two speakers, ``Who`` says whose text follows."""
    speakers = [names.get(code, code) for code in turn.get("speaker", "").split()]
    starts = [sync.get("time") for sync in turn.iter("Sync")]
    ends = iter([*starts[1:], turn.get("endTime")])
    start, end = turn.get("startTime"), turn.get("endTime")
    speaker, text = speakers[0] if speakers else "", turn.text or ""
    remarks: list[str] = []
    for node in turn:
        if node.tag in ("Sync", "Who"):
            yield from _stretch(speaker, text, start, end, remarks, place)
            text, remarks = "", []
        if node.tag == "Sync":
            start, end = node.get("time"), next(ends, None)
            speaker = speakers[0] if speakers else ""
        elif node.tag == "Who":
            number = node.get("nb", "1")
            speaker = speakers[int(number) - 1] if number.isdigit() and 0 < int(number) <= len(speakers) else speaker
        elif node.get("desc") in _UNINTELLIGIBLE and node.get("extent", "instantaneous") == "instantaneous":
            text += " [unintelligible] "
        elif node.tag == "Comment" or node.get("type") in _CODED:
            remark = "" if node.get("extent") == "end" else node.get("desc", "").strip()
            remarks += [remark] if remark else []
        else:
            text += _described(node)
        text += node.tail or ""
    yield from _stretch(speaker, text, start, end, remarks, place)


def _stretch(
    speaker: str, text: str, start: str | None, end: str | None, remarks: list[str], place: str
) -> Iterator[SpokenText]:
    if text.strip() or remarks:
        tiers = tuple(("%com", remark) for remark in remarks)
        span = span_of_seconds(start, end, place)
        yield SpokenText(speaker, _CUT_OFF.sub("-", " ".join(text.split())), span, tiers=tiers, place=place)


def _described(node: Element) -> str:
    """Return an event, or a sound in the background, in brackets; only the beginning of one that has a length."""
    if node.tag == "Background" and node.get("level") != "off" and node.get("type"):
        return f" [{node.get('type')}] "
    if node.tag != "Event" or node.get("extent") in ("end", "previous"):
        return " "
    meaning = _SOUNDS.get(node.get("desc", ""), node.get("desc", ""))
    return f" [{meaning}] " if meaning else " "
