"""The ``.tsv`` of openai-whisper: start and end in milliseconds, and a text."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a table with the columns ``start``, ``end`` and ``text``, and perhaps ``speaker``.

    Times with a point are in seconds.

    Raises:
        FormatError: It has other columns, or a damaged time.
    """
    lines = decode_bytes(data, place).split("\n")
    names = [name.strip().casefold() for name in lines[0].split("\t")]
    if not {"start", "end", "text"} <= set(names):
        raise FormatError(f"{place}:1: a table needs the columns start, end and text, parted by tabs; rename them")
    in_seconds = any("." in value for line in lines[1:] for value in _times(line, names))
    source = Source(Path(place).stem, notation="plain", has_segments=True)
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        here = f"{place}:{number}"
        values = line.split("\t")
        if len(values) < len(names):
            raise FormatError(f"{here}: has {len(values)} of {len(names)} columns; complete it")
        if names[-1] == "text":  # which may hold tabs
            values[len(names) - 1 :] = [" ".join(values[len(names) - 1 :])]
        row = dict(zip(names, values, strict=False))
        start, end = (f"{row[name].strip()}{'' if in_seconds else 'e-3'}" for name in ("start", "end"))
        span = span_of_seconds(start, end, here)
        if row["text"].strip():
            source.spoken.append(SpokenText(row.get("speaker", "").strip(), row["text"].strip(), span, place=here))
    return [source]


def _times(line: str, names: list[str]) -> list[str]:
    pairs = zip(names, line.split("\t"), strict=False)
    return [value for name, value in pairs if name in ("start", "end")]
