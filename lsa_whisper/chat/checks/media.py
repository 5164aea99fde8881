"""Checks of ``@Media``, of bullets, and of the times of ``%wor``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.chat.checks.context import value_place
from lsa_whisper.chat.codes import MEDIA_EXTENSIONS, MEDIA_KINDS, MEDIA_STATES
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import BULLET, Utterance
from lsa_whisper.chat.model import Transcript

_TIMES = re.compile(r"\x15(\d{1,14})_(\d{1,14})-?\x15")
_Part = tuple[str, str, str]


def media_problems(transcript: Transcript) -> Iterator[Problem]:
    """Yield the problems of ``@Media``."""
    line = next((line for line in transcript.headers if line.name == "@Media"), None)
    if line is None or not line.value:
        return
    for code, text, message in _media(line, transcript):
        yield Problem(transcript.path, *value_place(line, text), code, message)


def _media(line: Line, transcript: Transcript) -> Iterator[_Part]:
    match = re.fullmatch(r'("[^"]*"|[^,]*)(.*)', line.value)
    name, parts = (match[1].strip(), [part.strip() for part in match[2].split(",")[1:]]) if match else ("", [])
    if not parts or parts[0] not in MEDIA_KINDS:
        yield "media-kind", "".join(parts[:1]), "@Media must read 'name, audio' or 'name, video'"
    for part in parts[1:]:
        if part not in MEDIA_STATES:
            yield "media-kind", part, f"@Media: {part!r} is none of {', '.join(MEDIA_STATES)}"
    if re.search(r"\s,", line.value):
        yield "media-space", "", "@Media has a space before a comma"
    if "://" in name and not name.startswith('"'):
        yield "media-quotes", name, f"@Media names {name!r} without quotation marks"
    name = name.strip('"')
    if "://" not in name:
        extension = name.rpartition(".")[2].lower() if "." in name else ""
        if extension in MEDIA_EXTENSIONS:
            yield "media-extension", name, f"@Media names {name!r} with its extension"
            name = name.rpartition(".")[0]
        if transcript.path and name.lower() != Path(transcript.path).stem.lower():
            yield "media-name", name, f"@Media names {name!r}, not this file"
    timed = any(utterance.span for utterance in transcript.utterances)
    if timed and ("unlinked" in parts or "notrans" in parts):
        yield "media-unlinked", "", "@Media says there are no bullets"
    elif not timed and transcript.utterances and not {"missing", "unlinked", "notrans"}.intersection(parts):
        yield "media-linked", "", "@Media has no bullets to link to"


def time_problems(transcript: Transcript) -> Iterator[Problem]:
    """Yield the problems of bullets and of ``%wor``."""
    last_start = 0
    last_end: dict[str, int] = {}
    for utterance in transcript.utterances:
        yield from _forms(transcript, utterance)
        span = utterance.span
        if span is None:
            continue
        place = (transcript.path, *utterance.place(max(utterance.body.find("\x15"), 0)))
        backwards = any(int(start) >= int(end) for start, end in _TIMES.findall(utterance.body))
        if span.duration_ms <= 0 or backwards:
            yield Problem(*place, "empty-bullet", f"the bullet {span.start_ms}_{span.end_ms} does not end later")
        if span.start_ms < last_start:
            yield Problem(*place, "bullet-order", f"begins at {span.start_ms} ms, before the utterance above it")
        if span.start_ms < last_end.get(utterance.speaker, 0):
            message = f"begins at {span.start_ms} ms, before *{utterance.speaker} has ended its last utterance"
            yield Problem(*place, "bullet-overlap", message)
        last_start = max(last_start, span.start_ms)
        last_end[utterance.speaker] = max(last_end.get(utterance.speaker, 0), span.end_ms)
        yield from _word_times(transcript, utterance)


def _forms(transcript: Transcript, utterance: Utterance) -> Iterator[Problem]:
    """Yield bullets that are not ``start_end`` between two control characters."""
    body = utterance.body
    for bullet in BULLET.finditer(body):
        if bullet[0].count("\x15") < 2:
            message = f"{bullet[0]!r} lacks the control characters of a bullet"
            yield Problem(transcript.path, *utterance.place(bullet.start()), "bare-bullet", message)
        elif not _TIMES.fullmatch(bullet[0]):
            message = f"the bullet {bullet[0][1:-1]!r} is not start_end in milliseconds"
            yield Problem(transcript.path, *utterance.place(bullet.start()), "bullet-format", message)
    if "\x15" in BULLET.sub("", body):
        offset = body.rindex("\x15")
        yield Problem(transcript.path, *utterance.place(offset), "bare-bullet", "a bullet has one control character")


def _word_times(transcript: Transcript, utterance: Utterance) -> Iterator[Problem]:
    last = 0
    for word, span in utterance.word_times:
        if span.start_ms < last or span.duration_ms < 0:
            line = next((tier.number for tier in utterance.tiers if tier.name == "%wor"), 0) or utterance.line or 1
            yield Problem(transcript.path, line, 1, "word-order", f"%wor: {word!r} is out of order in time")
        last = span.start_ms
