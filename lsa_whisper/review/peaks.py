"""What the page shows and plays of a recording: its peaks, and parts of it as WAV where no browser can play it.

Peaks are the lowest and highest sample of every 10 ms, computed once and stored. A file of peaks is ``LSAPEAK1``, the
size of the recording in bytes and its time of change (two unsigned 64-bit numbers, to see that it is the same
recording), then two signed bytes for each 10 ms. Three hours are 2 MB.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import soundfile as sf

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording, Samples
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.system.own_files import LinkError, read_own
from lsa_whisper.timespan import TimeSpan

PEAKS_PER_S = 100
_STEP = SAMPLE_RATE_HZ // PEAKS_PER_S
_BLOCK_S = 20.0
_MAGIC = b"LSAPEAK1"
_HEADER = struct.Struct("<8sQQ")


def stream_peaks(recording: Recording, cache: Path) -> Iterator[bytes]:
    """Yield the peaks of a recording in order, from the file at ``cache`` or computed block by block.

    Args:
        recording: opened audio.
        cache: where the peaks are stored when all of them are known; a folder without write permission is not an error.

    Raises:
        AudioError: the recording can no longer be read.
    """
    identity = _identity(recording.path)
    with suppress(OSError, LinkError):
        stored = read_own(cache, own=True) if cache.parent.is_dir() else b""
        if stored.startswith(identity):
            yield stored[len(identity) :]
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
    found = os.stat(path)  # noqa: PTH116 -- both values from one call
    return _HEADER.pack(_MAGIC, found.st_size, found.st_mtime_ns)


_MAX_MS = 60_000


def wav_clip(recording: Recording, start_ms: int, end_ms: int) -> bytes:
    """Return up to a minute of a recording, 16 kHz mono, as WAV.

    Raises:
        AudioError: the span is empty, or begins after the end of the recording.
    """
    samples = recording.load(TimeSpan(start_ms, min(end_ms, start_ms + _MAX_MS)))
    file = io.BytesIO()
    sf.write(file, samples, SAMPLE_RATE_HZ, format="WAV", subtype="PCM_16")
    return file.getvalue()
