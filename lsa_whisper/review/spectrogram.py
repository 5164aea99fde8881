"""The spectrogram of a recording in tiles: what the page shows below the waveform, made when it is asked for."""

from __future__ import annotations

from functools import lru_cache

from lsa_whisper.audio import SAMPLE_RATE_HZ
from lsa_whisper.audio.picture import spectrogram_tile
from lsa_whisper.review.sounds import SessionSound
from lsa_whisper.timespan import TimeSpan

TILE_MS = (8000, 2000)
"""Length of a tile at each level of zoom; it has 800 columns, of 10 ms or of 2.5 ms."""
_COLUMNS = 800
MAX_GAIN_DB = 40


def tile(sound: SessionSound, level: int, number: int, gain_db: int) -> bytes:
    """Return tile ``number`` of a sound as PNG; no bytes beyond its end.

    Args:
        sound: a recording or a channel of one.
        level: index of :data:`TILE_MS`.
        number: tiles are counted from 0 at the start of the recording.
        gain_db: how much louder quiet speech is drawn.

    Raises:
        AudioError: the recording can no longer be read.
    """
    return _tile(sound, sound.path.stat().st_mtime_ns, level, number, min(gain_db, MAX_GAIN_DB))


@lru_cache(maxsize=256)
def _tile(sound: SessionSound, _changed_ns: int, level: int, number: int, gain_db: int) -> bytes:
    recording, length_ms = sound.open(), TILE_MS[level]
    start_ms, end_ms = number * length_ms, min((number + 1) * length_ms, int(recording.duration_s * 1000))
    if end_ms <= start_ms:
        return b""
    samples = recording.load(TimeSpan(start_ms, end_ms))
    return spectrogram_tile(samples, length_ms * SAMPLE_RATE_HZ // 1000 // _COLUMNS, gain_db)
