"""A transcript for other programs: one small file for each format, all with ``serialize``.

Times are left out where a format has no place for them; an utterance without times is left out where a format demands
them (srt, vtt, textgrid, eaf).
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
"""Each format's name and the ending its programs expect."""

FORMATS = tuple(FORMAT_SUFFIXES)


def write(transcript: Transcript, path: Path, name: str) -> None:
    """Write ``transcript`` to ``path`` in the format called ``name``, one of :data:`FORMATS`; whole or not at all."""
    write_atomic(serialize(transcript, name), path)


def serialize(transcript: Transcript, name: str) -> str:
    """Return ``transcript`` in the format called ``name``, one of :data:`FORMATS`."""
    module = "lsa_whisper.chat" if name == "cha" else f"lsa_whisper.formats.{name}"
    return str(import_module(module).serialize(transcript))
