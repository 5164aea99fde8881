"""What can be heard of a session: its recordings and their channels, and what the page shows and plays of each.

The page shows peaks and, below them, a spectrogram in tiles, made when it is asked for. It plays parts as WAV where no
browser can play the recording. Peaks are the lowest and highest sample of every 10 ms, computed once and stored. A file
of peaks is ``LSAPEAK1``, the size of the recording in bytes and its time of change (two unsigned 64-bit numbers, to see
that it is the same recording), then two signed bytes for each 10 ms. Three hours are 2 MB.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import soundfile as sf

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording, Samples
from lsa_whisper.audio.picture import spectrogram_tile
from lsa_whisper.errors import AudioError
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.system.own_files import LinkError, read_own
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True)
class SessionSound:
    """A recording, or one of its channels, counted from 0; ``None`` for all of them together."""

    path: Path
    channel: int | None = None

    @property
    def label(self) -> str:
        """The name that a person chooses it by."""
        return self.path.name if self.channel is None else f"{self.path.name}, channel {self.channel + 1}"

    def open(self) -> Recording:
        """Return the opened recording.

        Raises:
            AudioError: It can no longer be read.
        """
        return Recording.open(self.path, channel=self.channel)


def list_sounds(paths: Sequence[Path]) -> list[SessionSound]:
    """Return each recording, and behind it its channels if it has several; the first one is there even if damaged."""
    sounds: list[SessionSound] = []
    for path in paths:
        try:
            channels = Recording.open(path).channels
        except AudioError:
            if sounds:
                continue
            channels = 1
        own = range(channels if channels > 1 else 0)
        sounds += [SessionSound(path), *(SessionSound(path, channel) for channel in own)]
    return sounds


PEAKS_PER_S = 100
_STEP = SAMPLE_RATE_HZ // PEAKS_PER_S
_BLOCK_S = 20.0
_MAGIC = b"LSAPEAK1"
_HEADER = struct.Struct("<8sQQ")


def stream_peaks(recording: Recording, cache: Path) -> Iterator[bytes]:
    """Yield the peaks of a recording in order, from the file at ``cache`` or computed block by block.

    They are stored at ``cache`` when all of them are known; a folder without write permission is not an error.

    Raises:
        AudioError: The recording can no longer be read.
    """
    identity = _identity(recording.path)
    with suppress(OSError, LinkError):
        content = read_own(cache, own=True) if cache.parent.is_dir() else b""
        if content.startswith(identity):
            yield content[len(identity) :]
            return
    parts: list[bytes] = []
    for block in recording.stream(_BLOCK_S):
        parts.append(block_peaks(block))
        yield parts[-1]
    with suppress(OSError, LinkError):
        replace_file(identity + b"".join(parts), cache, own=True)


def block_peaks(samples: Samples) -> bytes:
    """Return lowest and highest value of every 10 ms as signed bytes, 127 for full scale.

    >>> np.frombuffer(block_peaks(np.array([0.5, -1.0] * 80, np.float32)), np.int8).tolist()
    [-127, 64]
    """
    missing = -len(samples) % _STEP
    frames = np.pad(samples, (0, missing)).reshape(-1, _STEP)
    pairs = np.stack([frames.min(axis=1), frames.max(axis=1)], axis=1)
    return np.asarray(np.rint(np.clip(pairs, -1, 1) * 127), dtype=np.int8).tobytes()


def _identity(path: Path) -> bytes:
    status = os.stat(path)  # noqa: PTH116 -- both values from one call
    return _HEADER.pack(_MAGIC, status.st_size, status.st_mtime_ns)


_MAX_MS = 60_000


def wav_clip(recording: Recording, start_ms: int, end_ms: int) -> bytes:
    """Return up to a minute of a recording, 16 kHz mono, as WAV.

    Raises:
        AudioError: The span is empty, or begins after the end of the recording.
    """
    samples = recording.load(TimeSpan(start_ms, min(end_ms, start_ms + _MAX_MS)))
    file = io.BytesIO()
    sf.write(file, samples, SAMPLE_RATE_HZ, format="WAV", subtype="PCM_16")
    return file.getvalue()


TILE_MS = (8000, 2000)
"""Length of a tile at each level of zoom; it has 800 columns, of 10 ms or of 2.5 ms."""
_COLUMNS = 800
MAX_GAIN_DB = 40


def tile(sound: SessionSound, level: int, number: int, gain_db: int) -> bytes:
    """Return tile ``number`` of a sound as PNG; no bytes beyond its end.

    ``level`` is an index of :data:`TILE_MS`; tiles are counted from 0 at the start of the recording, and quiet speech
    is drawn louder by ``gain_db``.

    Raises:
        AudioError: The recording can no longer be read.
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
