"""Export of transcripts to other formats; each module has ``serialize``.

Formats without times omit them. Formats that require times (srt, vtt, textgrid, eaf) omit utterances without times.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lsa_whisper.atomic_write import write_atomic
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
}
"""The file extension of each format."""

FORMATS = tuple(FORMAT_SUFFIXES)


def write(transcript: Transcript, path: Path, name: str) -> None:
    """Write ``transcript`` to ``path`` in the format called ``name``, one of :data:`FORMATS`, atomically."""
    write_atomic(serialize(transcript, name), path)


def serialize(transcript: Transcript, name: str) -> str:
    """Return ``transcript`` in the format called ``name``, one of :data:`FORMATS`."""
    module = "lsa_whisper.chat" if name == "cha" else f"lsa_whisper.formats.{name}"
    return str(import_module(module).serialize(transcript))
