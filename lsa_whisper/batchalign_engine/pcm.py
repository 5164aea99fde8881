"""The samples that Batchalign passes to its engines, as a recording for the transcriber."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soxr

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording, Samples
from lsa_whisper.errors import AudioError
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True)
class InMemoryRecording(Recording):
    """A recording whose samples are in memory, because Batchalign has already decoded the file.

    Attributes:
        samples: float32, mono, 16 kHz.
    """

    samples: Samples = field(default_factory=lambda: np.zeros(0, np.float32), repr=False)

    def load(self, span: TimeSpan | None = None) -> Samples:
        """Return the samples of ``span``, or all of them; see :meth:`Recording.load`."""
        if span is None:
            return self.samples
        if span.duration_ms <= 0 or span.start_ms < 0 or span.start_ms >= self.duration_s * 1000:
            raise AudioError(
                f"{self.path}: cannot cut {span.start_ms} to {span.end_ms} ms out of {self.duration_s:.3f} s of audio"
            )
        return self.samples[16 * span.start_ms : 16 * span.end_ms]

    def stream(self, block_s: float = 30.0) -> Iterator[Samples]:
        """Yield the samples in blocks of ``block_s`` seconds; see :meth:`Recording.stream`."""
        size = max(1, round(block_s * SAMPLE_RATE_HZ))
        for start in range(0, len(self.samples), size):
            yield self.samples[start : start + size]


def recording_from_pcm(source: str, pcm: bytes, rate_hz: int, channels: int) -> InMemoryRecording:
    """Return the recording in a buffer of interleaved little-endian float32 samples.

    ``source`` is its path, or another name that Batchalign has for it, and ``rate_hz`` that of the file.

    >>> tone = np.sin(np.arange(44_100) / 20).astype("<f4").tobytes()
    >>> recording = recording_from_pcm("visit.mp3", tone, 22_050, 2)
    >>> recording.duration_s, recording.load(TimeSpan(100, 350)).shape
    (1.0, (4000,))

    Raises:
        AudioError: There are no samples.
    """
    samples = np.frombuffer(pcm, "<f4").reshape(-1, max(1, channels)).mean(axis=1, dtype=np.float32)
    if not len(samples) or rate_hz < 1:
        raise AudioError(f"{source}: Batchalign decoded no audio from it; convert or copy it again")
    samples = np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)
    duration_s = len(samples) / rate_hz
    if rate_hz != SAMPLE_RATE_HZ:
        samples = soxr.resample(samples, rate_hz, SAMPLE_RATE_HZ).astype(np.float32, copy=False)
    return InMemoryRecording(Path(source), duration_s, rate_hz, channels, "batchalign", samples=samples)
