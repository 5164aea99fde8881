"""ELAN annotation format 3.0: one time-aligned tier for each speaker."""

from __future__ import annotations

from xml.etree import ElementTree

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.readable_text import timed_utterances

_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"


def serialize(transcript: Transcript) -> str:
    """Return an ELAN document; the annotations keep their CHAT marks.

    The document carries no date: the same transcript gives the same bytes.
    """
    ElementTree.register_namespace("xsi", _XSI)
    document = ElementTree.Element(
        "ANNOTATION_DOCUMENT",
        {"AUTHOR": "", "DATE": "1970-01-01T00:00:00Z", "FORMAT": "3.0", "VERSION": "3.0"},
    )
    document.set(f"{{{_XSI}}}noNamespaceSchemaLocation", _SCHEMA)
    ElementTree.SubElement(document, "HEADER", {"MEDIA_FILE": "", "TIME_UNITS": "milliseconds"})
    order = ElementTree.SubElement(document, "TIME_ORDER")
    tiers: dict[str, ElementTree.Element] = {}
    for number, (start_ms, end_ms, each) in enumerate(timed_utterances(transcript), start=1):
        for slot, time_ms in (("s", start_ms), ("e", end_ms)):
            slot_id = {"TIME_SLOT_ID": f"t{number}{slot}", "TIME_VALUE": str(time_ms)}
            ElementTree.SubElement(order, "TIME_SLOT", slot_id)
        tier = tiers.setdefault(each.speaker, _tier(each.speaker))
        _annotate(tier, number, each.text)
    document.extend(tiers.values())
    kind = {"GRAPHIC_REFERENCES": "false", "LINGUISTIC_TYPE_ID": "utterance", "TIME_ALIGNABLE": "true"}
    ElementTree.SubElement(document, "LINGUISTIC_TYPE", kind)
    ElementTree.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(document, encoding="unicode") + "\n"


def _tier(speaker: str) -> ElementTree.Element:
    attributes = {"LINGUISTIC_TYPE_REF": "utterance", "PARTICIPANT": speaker, "TIER_ID": speaker}
    return ElementTree.Element("TIER", attributes)


def _annotate(tier: ElementTree.Element, number: int, text: str) -> None:
    holder = ElementTree.SubElement(tier, "ANNOTATION")
    slots = {"ANNOTATION_ID": f"a{number}", "TIME_SLOT_REF1": f"t{number}s", "TIME_SLOT_REF2": f"t{number}e"}
    annotation = ElementTree.SubElement(holder, "ALIGNABLE_ANNOTATION", slots)
    ElementTree.SubElement(annotation, "ANNOTATION_VALUE").text = text
