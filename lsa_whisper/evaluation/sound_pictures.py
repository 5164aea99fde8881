"""Waveform and spectrogram of the worst utterances, with the times of their words.

They are made when the report is written, because a page opened from a disk may play a recording beside it, but not read
its samples. They are few, so that a report stays small, and the page reads them when the first one is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper.audio.clip import data_url
from lsa_whisper.audio.picture import sound_picture
from lsa_whisper.evaluation.embedded_clips import SoundOfRow
from lsa_whisper.evaluation.report_rows import ReportRows

MAX_PICTURES = 100
_COLUMNS = 300
_MAX_DURATION_MS = 30_000


def sound_pictures(rows: ReportRows, keys: Sequence[str], recordings: Mapping[str, Path]) -> dict[int, list[Any]]:
    """Return the pictures of the utterances with the most errors, by number of their row.

    Each is ``[picture, start_s, end_s, [[word, start_s, end_s, known], ...] per transcript]``, the reference first.
    """
    sounds, shown = SoundOfRow(keys, recordings), rows.rows
    found: dict[int, list[Any]] = {}
    for number, timed in rows.worst:
        if len(found) == MAX_PICTURES:
            break
        span = sounds.span(shown[number])
        if span is None or span.duration_ms > _MAX_DURATION_MS:
            continue
        picture = data_url("image/png", sound_picture(sounds.load(shown[number]), _COLUMNS))
        if picture:
            words = [[[word, start / 1000, end / 1000, int(known)] for word, start, end, known in own] for own in timed]
            found[number] = [picture, span.start_ms / 1000, span.end_ms / 1000, words]
    return found
