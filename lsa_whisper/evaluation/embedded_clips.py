"""The sound of each utterance inside the report, so that it can be sent in one file; pictures of the worst ones.

Waveforms and spectrograms are made when the report is written, because a page opened from a disk may play a recording
beside it, but not read its samples. They are few, so that a report stays small, and the page reads them when the first
one is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lsa_whisper.audio import Recording, Samples
from lsa_whisper.audio.clip import data_url, encode_audio
from lsa_whisper.audio.picture import sound_picture
from lsa_whisper.errors import AudioError
from lsa_whisper.evaluation.report_rows import ReportRows
from lsa_whisper.timespan import TimeSpan

_MARGIN_MS = 100


class SoundOfRow:
    """The sound of a report's rows; a recording that cannot be read gives none."""

    def __init__(self, keys: Sequence[str], recordings: Mapping[str, Path]) -> None:
        """Open the recordings of the files ``keys``."""
        self._keys = keys
        self._opened = {key: _opened(path) for key, path in recordings.items()}

    def span(self, row: Sequence[Any]) -> TimeSpan | None:
        """Return the span of a row in its recording, with a margin; ``None`` without times or a recording."""
        start_s, end_s = row[2:4]
        if self._opened.get(self._keys[row[0]]) is None or start_s is None or end_s is None:
            return None
        return TimeSpan(max(round(1000 * start_s) - _MARGIN_MS, 0), round(1000 * end_s) + _MARGIN_MS)

    def load(self, row: Sequence[Any]) -> Samples:
        """Return the samples of a row; empty if there are none."""
        recording, span = self._opened.get(self._keys[row[0]]), self.span(row)
        if recording is not None and span is not None:
            try:
                return recording.load(span)
            except AudioError:
                pass
        return np.zeros(0, np.float32)


def embedded_clips(rows: Sequence[list[Any]], keys: Sequence[str], recordings: Mapping[str, Path]) -> list[str]:
    """Return, per row of a report, its sound as a ``data:`` URL; empty without times or a readable recording."""
    sounds = SoundOfRow(keys, recordings)
    return [_clip(sounds.load(row)) for row in rows]


def _opened(path: Path) -> Recording | None:
    try:
        return Recording.open(path)
    except AudioError:
        return None


def _clip(samples: Samples) -> str:
    if not len(samples):
        return ""
    kind, data = encode_audio(samples)
    return data_url(f"audio/{kind}", data)


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
