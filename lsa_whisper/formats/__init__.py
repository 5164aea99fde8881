"""Transcripts in other formats: the modules here write them, those of ``reading`` read them.

Formats without times omit them. Formats that require times (srt, vtt, textgrid, eaf) omit utterances without times.
docs/formats.md says what else each format cannot hold.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lsa_whisper.chat import Transcript

FORMAT_SUFFIXES = {
    "cha": "cha",
    "srt": "srt",
    "vtt": "vtt",
    "textgrid": "TextGrid",
    "eaf": "eaf",
    "salt": "slt",
    "json": "json",
    "txt": "txt",
    "csv": "csv",
    "docx": "docx",
}
"""The file extension of each format."""

FORMATS = tuple(FORMAT_SUFFIXES)

FOR_PEOPLE = ("csv", "docx")
"""The formats that are not read again: a table of utterances, and a document."""

TIMED_FORMATS = ("eaf", "textgrid", "srt", "vtt")
"""The formats that hold utterances with times only."""


def serialize(transcript: Transcript, name: str, *, recording: Path | None = None) -> str | bytes:
    """Return ``transcript`` in the format called ``name``, one of :data:`FORMATS`: a text, or the bytes of ``docx``.

    An ELAN document names ``recording``, if it is not a wav file next to it.
    """
    if name in ("csv", "srt", "txt", "vtt"):
        from lsa_whisper.formats.readable_text import WRITERS

        return WRITERS[name](transcript)
    module = import_module("lsa_whisper.chat" if name == "cha" else f"lsa_whisper.formats.{name}")
    content: str | bytes = module.serialize(transcript, *([recording] if name == "eaf" else []))
    return content
