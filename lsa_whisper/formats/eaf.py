"""ELAN annotation format 3.0: a tier for each speaker, below it the words with times and the dependent tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.readable_text import dependent_tiers, placed_utterances
from lsa_whisper.formats.reading.eaf import HEADER_PROPERTY

_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_MIME_TYPES = {".wav": "audio/x-wav", ".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime"}
_UNDERLINING = re.compile(r"[\x01-\x08]")
_NOT_XML = re.compile(r"[\x00\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TYPES = {"utterance": None, "words": "Included_In", "dependent": "Symbolic_Association"}
_CONSTRAINTS = {
    "Time_Subdivision": "divides the time of the parent annotation, without gaps",
    "Symbolic_Subdivision": "divides the parent annotation, in order",
    "Symbolic_Association": "one annotation for one parent annotation",
    "Included_In": "within the time of the parent annotation, with gaps",
}
"""The stereotypes that ELAN knows."""


@dataclass
class _Tiers:
    """The tiers of a document, and the time slots in the order of their times."""

    by_name: dict[str, Element] = field(default_factory=dict)
    slots: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0

    def tier(self, name: str, speaker: str, kind: str = "utterance") -> Element:
        """Return the tier called ``name``, made if it does not exist."""
        if name not in self.by_name:
            attributes = {"LINGUISTIC_TYPE_REF": kind, "PARTICIPANT": speaker, "TIER_ID": name}
            if kind != "utterance":
                attributes["PARENT_REF"] = speaker
            self.by_name[name] = Element("TIER", attributes)
        return self.by_name[name]

    def align(self, tier: Element, start_ms: int, end_ms: int, text: str) -> str:
        """Add an annotation with times, and return its identifier."""
        self.count += 1
        name = f"a{self.count}"
        start, end = f"t{self.count}s", f"t{self.count}e"
        self.slots += [(start_ms, start), (end_ms, end)]
        slots = {"ANNOTATION_ID": name, "TIME_SLOT_REF1": start, "TIME_SLOT_REF2": end}
        annotation = SubElement(SubElement(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION", slots)
        SubElement(annotation, "ANNOTATION_VALUE").text = _xml_text(text)
        return name

    def refer(self, tier: Element, parent: str, text: str) -> None:
        """Add an annotation that depends on the annotation ``parent``."""
        self.count += 1
        refers = {"ANNOTATION_ID": f"a{self.count}", "ANNOTATION_REF": parent}
        annotation = SubElement(SubElement(tier, "ANNOTATION"), "REF_ANNOTATION", refers)
        SubElement(annotation, "ANNOTATION_VALUE").text = _xml_text(text)


def serialize(transcript: Transcript, recording: Path | None = None) -> str:
    """Return an ELAN document; the annotations keep their CHAT marks, its properties hold the headers.

    The document carries no date: the same transcript gives the same bytes. The recording is by default a wav file of
    the transcript's media name next to the document.
    """
    ElementTree.register_namespace("xsi", _XSI)
    document = Element(
        "ANNOTATION_DOCUMENT", {"AUTHOR": "", "DATE": "1970-01-01T00:00:00Z", "FORMAT": "3.0", "VERSION": "3.0"}
    )
    document.set(f"{{{_XSI}}}noNamespaceSchemaLocation", _SCHEMA)
    header = SubElement(document, "HEADER", {"MEDIA_FILE": "", "TIME_UNITS": "milliseconds"})
    if media := _media(transcript, recording):
        SubElement(header, "MEDIA_DESCRIPTOR", media)
    for line in _header_lines(transcript):
        SubElement(header, "PROPERTY", {"NAME": HEADER_PROPERTY}).text = _xml_text(line)
    tiers = _tiers(transcript)
    order = SubElement(document, "TIME_ORDER")
    for time_ms, slot in sorted(tiers.slots, key=lambda pair: pair[0]):
        SubElement(order, "TIME_SLOT", {"TIME_SLOT_ID": slot, "TIME_VALUE": str(time_ms)})
    document.extend(tiers.by_name.values())
    _add_types(document, {tier.get("LINGUISTIC_TYPE_REF", "") for tier in tiers.by_name.values()})
    ElementTree.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(document, encoding="unicode") + "\n"


def _xml_text(text: str) -> str:
    """Return ``text`` without the characters that XML cannot hold; those that underline stand within words."""
    return _NOT_XML.sub(" ", _UNDERLINING.sub("", text))


def _tiers(transcript: Transcript) -> _Tiers:
    tiers = _Tiers()
    for start_ms, end_ms, utterance in placed_utterances(transcript):
        name = tiers.align(tiers.tier(utterance.speaker, utterance.speaker), start_ms, end_ms, utterance.text)
        for word, at in utterance.word_times:
            tiers.align(
                tiers.tier(f"{utterance.speaker} words", utterance.speaker, "words"), at.start_ms, at.end_ms, word
            )
        for kind, value in dependent_tiers(utterance).items():
            tiers.refer(tiers.tier(f"{kind}@{utterance.speaker}", utterance.speaker, "dependent"), name, value)
    return tiers


def _media(transcript: Transcript, recording: Path | None) -> dict[str, str]:
    """Return where ELAN looks for the recording: at its path, then next to the document."""
    if recording is None and not transcript.media:
        return {}
    name = recording.name if recording else f"{transcript.media}.wav"
    suffix = Path(name).suffix.lower()
    beside = f"./{quote(name)}"
    return {
        "MEDIA_URL": recording.absolute().as_uri() if recording else beside,
        "MIME_TYPE": _MIME_TYPES.get(suffix, f"audio/{suffix[1:]}"),
        "RELATIVE_MEDIA_URL": beside,
    }


def _header_lines(transcript: Transcript) -> Iterator[str]:
    for line in transcript.headers:
        if line.name not in ("@UTF8", "@Begin", "@End"):
            yield f"{line.name}:\t{line.value}" if line.value else line.name


def _add_types(document: Element, types: set[str]) -> None:
    """Add the linguistic types of the tiers, and ELAN's constraints if a type has one."""
    for name, constraint in _TYPES.items():
        if name == "utterance" or name in types:
            kind = {"GRAPHIC_REFERENCES": "false", "LINGUISTIC_TYPE_ID": name}
            kind["TIME_ALIGNABLE"] = "false" if constraint == "Symbolic_Association" else "true"
            SubElement(document, "LINGUISTIC_TYPE", kind | ({"CONSTRAINTS": constraint} if constraint else {}))
    if types - {"utterance"}:
        for name, description in _CONSTRAINTS.items():
            SubElement(document, "CONSTRAINT", {"DESCRIPTION": description, "STEREOTYPE": name})
