"""A transcript for other programs: one small file for each format, all with ``serialize`` and ``write``.

Times are left out where a format has no place for them; an utterance without times is left out where a format demands
them (srt, vtt, textgrid, eaf).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lsa_whisper.chat import Transcript

SUFFIXES = {
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

NAMES = tuple(SUFFIXES)


def write(transcript: Transcript, path: Path, name: str) -> None:
    """Write ``transcript`` to ``path`` in the format called ``name``, one of :data:`NAMES`; whole or not at all."""
    if name == "cha":
        from lsa_whisper import chat

        chat.write(transcript, path)
    else:
        import_module(f"lsa_whisper.formats.{name}").write(transcript, path)
