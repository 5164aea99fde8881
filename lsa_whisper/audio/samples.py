"""What every array of sound here is: float32, mono, 16 kHz, finite."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ = 16_000
"""Whisper's sample rate; every array this package returns has it."""

RATES_HZ = (1_000, 768_000)
"""The lowest and the highest rate of a file that is believed."""

MAX_MISSING_S = 0.5
"""More may not be missing at the end of what was read; a codec rounds its last frame."""

Samples = npt.NDArray[np.float32]


def mono(samples: npt.NDArray[np.float32]) -> Samples:
    """Return the mean of the channels of ``samples`` (frames, or frames by channels), zero for what is not finite."""
    mixed = samples.mean(axis=1, dtype=np.float32) if samples.ndim == 2 else samples
    # A float wav may hold NaN or infinity: one such sample would poison every feature of its window.
    return np.nan_to_num(mixed, nan=0.0, posinf=0.0, neginf=0.0)
