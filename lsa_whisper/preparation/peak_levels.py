"""Peak level and clipping of a recording per 20 ms frame, in one pass and constant memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lsa_whisper.audio import SAMPLE_RATE_HZ, Samples
from lsa_whisper.timespan import TimeSpan

FRAME_MS = 20
SILENT_PEAK = 0.001
"""Audio with a peak below this (-60 dB) contains no speech."""
_FRAME = SAMPLE_RATE_HZ * FRAME_MS // 1000
_FULL_SCALE = 0.99  # resampling smooths clipped waves, so that they no longer reach 1.0


@dataclass(frozen=True)
class PeakLevels:
    """Levels per frame of :data:`FRAME_MS`.

    Attributes:
        peaks: The peak of each frame; 1.0 is full scale.
        clipped: The number of samples at full scale in each frame.
        samples: The number of decoded samples.
    """

    peaks: npt.NDArray[np.float32]
    clipped: npt.NDArray[np.int32]
    samples: int

    @classmethod
    def measure(cls, blocks: Iterable[Samples]) -> PeakLevels:
        """Return the levels of the ``blocks`` of :meth:`lsa_whisper.audio.Recording.stream`."""
        peaks, clipped, samples = [], [], 0
        rest: Samples = np.zeros(0, np.float32)
        for block in blocks:
            samples += len(block)
            loud = np.abs(np.concatenate([rest, block]))
            whole = len(loud) // _FRAME * _FRAME
            frames, rest = loud[:whole].reshape(-1, _FRAME), loud[whole:]
            peaks.append(frames.max(axis=1))
            clipped.append((frames >= _FULL_SCALE).sum(axis=1, dtype=np.int32))
        if len(rest):
            peaks.append(rest.max(keepdims=True))
            clipped.append((rest >= _FULL_SCALE).sum(keepdims=True, dtype=np.int32))
        if not peaks:
            return cls(np.zeros(0, np.float32), np.zeros(0, np.int32), 0)
        return cls(np.concatenate(peaks), np.concatenate(clipped), samples)

    @property
    def duration_ms(self) -> int:
        """Duration of the audio in whole milliseconds."""
        return self.samples * 1000 // SAMPLE_RATE_HZ

    def peaks_in(self, span: TimeSpan) -> npt.NDArray[np.float32]:
        """Return the peaks of the frames that overlap ``span``."""
        return self.peaks[self.frames(span)]

    def peak(self, span: TimeSpan) -> float:
        """Return the peak in ``span``; 0.0 if it overlaps no frame."""
        frames = self.peaks_in(span)
        return float(frames.max()) if len(frames) else 0.0

    def clipped_share(self, span: TimeSpan) -> float:
        """Return the share of samples in ``span`` that are at full scale."""
        frames = self.clipped[self.frames(span)]
        return float(frames.sum()) / (len(frames) * _FRAME) if len(frames) else 0.0

    def fingerprint(self, span: TimeSpan) -> bytes:
        """Return bytes that are equal for equal audio at the same offset within its frames."""
        return self.peaks_in(span).tobytes()

    @staticmethod
    def frames(span: TimeSpan) -> slice:
        """Return the slice of the frames that overlap ``span``."""
        return slice(max(0, span.start_ms) // FRAME_MS, -(-max(0, span.end_ms) // FRAME_MS))
