"""Plain text: one utterance a line, with or without the speaker before it (``NAME: text``), or turns with times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.turn_headers import turns_with_headers


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
    source = Source(Path(place).stem)
    source.spoken = turns_with_headers(lines, place)
    if source.spoken:
        source.notation = "plain"
        untimed = sum(each.span is None for each in source.spoken)
        if untimed:
            source.notes.append(f"turns without an end, which have no times: {untimed}")
        return [source]
    named = has_speaker_prefixes([line for _, line in lines], conventions)
    speaker = ""
    for number, line in lines:
        found, text = split_speaker(line) if named else ("", line)
        speaker = found or speaker
        if text:
            source.spoken.append(SpokenText(speaker, text, place=f"{place}:{number}"))
    return [source] if source.spoken else []


_PREFIX = re.compile(r"\s*[*\[]?([^\W_][\w .'-]{0,30}?)\]?\s*:(?:\s+|$)(.*)", re.DOTALL)


def has_speaker_prefixes(texts: Sequence[str], conventions: Conventions) -> bool:
    """Return whether ``texts`` begin with speakers: most of them do, or the conventions name those that do.

    >>> has_speaker_prefixes(["A: hi", "B: hello there", "A: bye"], Conventions())
    True
    >>> has_speaker_prefixes(["he did this: he ran", "and then", "home"], Conventions())
    False
    """
    named = [match.group(1).strip() for text in texts if (match := _PREFIX.fullmatch(text))]
    if any(name in conventions.speakers for name in named):
        return True
    enough = 2 * len(named) > len(texts)
    return enough and (len(named) > len(set(named)) or all(len(name.split()) <= 2 for name in named))


def split_speaker(text: str) -> tuple[str, str]:
    """Return the speaker (empty without one) and the text behind it.

    >>> split_speaker("SPEAKER_00: hello"), split_speaker("hello")
    (('SPEAKER_00', 'hello'), ('', 'hello'))
    """
    match = _PREFIX.fullmatch(text)
    return (match.group(1).strip(), match.group(2).strip()) if match else ("", text.strip())
