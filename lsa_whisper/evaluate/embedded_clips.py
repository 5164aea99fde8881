"""The sound of each utterance inside the report, so that it can be sent in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper.audio import Recording
from lsa_whisper.audio.clip import data_url, encode_audio
from lsa_whisper.errors import AudioError
from lsa_whisper.timespan import TimeSpan

_MARGIN_MS = 100


def embedded_clips(rows: Sequence[list[Any]], keys: Sequence[str], recordings: Mapping[str, Path]) -> list[str]:
    """Return, per row of a report, its sound as a ``data:`` URL; empty without times or a readable recording."""
    opened = {key: _opened(path) for key, path in recordings.items()}
    return [_clip(opened.get(keys[row[0]]), row[2], row[3]) for row in rows]


def _opened(path: Path) -> Recording | None:
    try:
        return Recording.open(path)
    except AudioError:
        return None


def _clip(recording: Recording | None, start_s: float | None, end_s: float | None) -> str:
    if recording is None or start_s is None or end_s is None:
        return ""
    start_ms, end_ms = round(1000 * start_s), round(1000 * end_s)
    try:
        kind, data = encode_audio(recording.load(TimeSpan(max(start_ms - _MARGIN_MS, 0), end_ms + _MARGIN_MS)))
    except AudioError:
        return ""
    return data_url(f"audio/{kind}", data)
