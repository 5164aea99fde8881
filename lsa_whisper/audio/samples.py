"""Sample arrays: float32, mono, 16 kHz, finite."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ = 16_000
"""Whisper's sample rate; all sample arrays have it."""

RATES_HZ = (1_000, 768_000)
"""The range of plausible sample rates in files."""

MAX_MISSING_S = 0.5
"""Maximum missing audio at the end of a read; codecs round the last frame."""

Samples = npt.NDArray[np.float32]


def mono(samples: npt.NDArray[np.float32], channel: int | None = None) -> Samples:
    """Return the mean over channels of ``samples`` ``(frames,)`` or ``(frames, channels)``; non-finite becomes zero.

    Args:
        samples: float32.
        channel: return this channel alone.
    """
    if samples.ndim == 2:
        mixed = samples.mean(axis=1, dtype=np.float32) if channel is None else samples[:, channel]
    else:
        mixed = samples
    # A float wav may contain NaN or infinity; one such sample would corrupt all features of its window.
    return np.nan_to_num(mixed, nan=0.0, posinf=0.0, neginf=0.0)
