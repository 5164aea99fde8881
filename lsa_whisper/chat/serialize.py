"""Serialization of transcripts to text and files, and new transcripts from utterances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from lsa_whisper.chat.lines import Line
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.model import ID_FIELDS, Participant, Transcript
from lsa_whisper.chat.parse import parse
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.timespan import TimeSpan

UNNAMED_CORPUS = "corpus_name"
"""The corpus in ``@ID`` of participants without one: CHAT requires the field, and Batchalign writes the same."""


def serialize(transcript: Transcript) -> str:
    r"""Return the text of ``transcript``; for a parsed transcript, exactly the parsed text.

    >>> text = "*PAR:\thello .\r\n no header"
    >>> serialize(parse(text)) == text
    True
    """
    lines = (
        [block.raw] if isinstance(block, Line) else [block.main, *(t.raw for t in block.tiers)]
        for block in transcript.blocks
    )
    return "".join(chain.from_iterable(lines))


def write(transcript: Transcript, path: str | Path) -> None:
    """Write ``transcript`` to ``path`` atomically, in its own encoding or, if that lacks characters, in UTF-8.

    Raises:
        LsaWhisperError: The file cannot be written, or ``transcript`` is something else, such as a result that has one.
    """
    if not isinstance(transcript, Transcript):
        raise LsaWhisperError(f"give a Transcript, such as `result.transcript`, not {type(transcript).__name__}")
    write_atomic(encoded(transcript), path)


def encoded(transcript: Transcript) -> bytes:
    """Return the bytes that :func:`write` writes."""
    text = serialize(transcript)
    try:
        return text.encode(transcript.encoding)
    except UnicodeEncodeError:  # characters not in Latin-1, or lone surrogates from file names that are not UTF-8
        return text.encode(errors="replace")


def compose(
    *,
    languages: Sequence[str],
    participants: Sequence[Participant],
    utterances: Iterable[Utterance],
    media: str | None = None,
    media_kind: str = "audio",
    comments: Sequence[str] = (),
) -> Transcript:
    """Return a new transcript with the headers that CHAT requires.

    Args:
        languages: ISO 639-3 codes, the main language first.
        participants: All possible speakers.
        utterances: Utterances in any order. Those with times are sorted by time; if one overlaps the previous
            utterance of its speaker, its start is moved to the end of that utterance.
        media: The name of the recording without extension; it should equal the stem of the CHAT file.
        media_kind: ``audio`` or ``video``.
        comments: One ``@Comment`` line each.
    """
    spoken = _without_overlaps(in_order(utterances))
    lines = ["@UTF8", "@Begin", f"@Languages:\t{', '.join(languages)}"]
    names = (" ".join(part for part in (p.code, re.sub(r"[\s,]+", "_", p.name), p.role) if part) for p in participants)
    lines.append(f"@Participants:\t{', '.join(names)}")
    lines.extend(_identity(person) for person in participants)
    if media:
        suffix = "" if any(utterance.span for utterance in spoken) else ", unlinked"
        lines.append(f"@Media:\t{media}, {media_kind}{suffix}")
    lines.extend(f"@Comment:\t{' '.join(comment.split())}" for comment in comments)
    return parse("".join(f"{line}\n" for line in lines) + serialize(Transcript([*spoken])) + "@End\n")


def _identity(person: Participant) -> str:
    full = replace(person, corpus=person.corpus or UNNAMED_CORPUS)
    return f"@ID:\t{'|'.join(getattr(full, field).replace('|', '/') for field in ID_FIELDS)}|"


def in_order(utterances: Iterable[Utterance]) -> list[Utterance]:
    """Return the utterances in order of time; one without times stays behind the one before it."""
    starts: list[int] = []
    spoken = list(utterances)
    for utterance in spoken:
        starts.append(utterance.span.start_ms if utterance.span else starts[-1] if starts else 0)
    return [spoken[at] for at in sorted(range(len(spoken)), key=starts.__getitem__)]


def _without_overlaps(spoken: list[Utterance]) -> list[Utterance]:
    """Return the utterances, in which each speaker has ended one before the next begins."""
    ends: dict[str, int] = {}
    last_start = 0
    for at, utterance in enumerate(spoken):
        if utterance.span is None:
            continue
        start_ms = max(utterance.span.start_ms, ends.get(utterance.speaker, 0), last_start)
        span = TimeSpan(start_ms, max(utterance.span.end_ms, start_ms + 1))
        if span != utterance.span:
            spoken[at] = utterance.at(span)
        ends[utterance.speaker], last_start = span.end_ms, start_ms
    return spoken
