"""Plain text: one utterance a line, with or without the speaker before it (``NAME: text``)."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.speaker_prefix import has_speaker_prefixes, split_speaker


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a text file; a line without a speaker belongs to the speaker above it.

    Raises:
        FormatError: It is not text.
    """
    lines = [
        (number, line.strip())
        for number, line in enumerate(decode_bytes(data, place).split("\n"), start=1)
        if line.strip()
    ]
    named = has_speaker_prefixes([line for _, line in lines], conventions)
    source = Source(Path(place).stem)
    speaker = ""
    for number, line in lines:
        found, text = split_speaker(line) if named else ("", line)
        speaker = found or speaker
        if text:
            source.spoken.append(SpokenText(speaker, text, place=f"{place}:{number}"))
    return [source] if source.spoken else []
