"""Sample arrays: float32, mono, 16 kHz, finite; and channels that cancel each other, or are the same."""

from __future__ import annotations

from collections.abc import Iterable

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

    The samples are float32. With ``channel``, that one alone is returned.
    """
    if samples.ndim == 2:
        signal = samples.mean(axis=1, dtype=np.float32) if channel is None else samples[:, channel]
    else:
        signal = samples
    # A float wav may contain NaN or infinity; one such sample would corrupt all features of its window.
    return np.nan_to_num(signal, nan=0.0, posinf=0.0, neginf=0.0)


_CANCELLED = 0.1
"""The mean has less power than this share of the louder channel: -10 dB. Unrelated channels give -3 dB, one silent
channel -6 dB."""


def are_same(blocks: Iterable[npt.NDArray[np.float32]]) -> bool:
    """Return whether all channels hold one signal, at one level: a recording of one microphone, stored twice.

    >>> tone = np.sin(np.arange(100, dtype=np.float32))
    >>> are_same([np.stack((tone, tone), axis=1)]), are_same([np.stack((tone, 0.5 * tone), axis=1)])
    (True, False)
    """
    difference = power = 0.0
    for block in blocks:
        difference += float(np.square(block - block[:, :1]).sum())
        power += float(np.square(block).sum())
    return difference <= 1e-6 * power


def cancelling_channel(blocks: Iterable[npt.NDArray[np.float32]]) -> int | None:
    """Return the louder channel where the mean of both cancels them, else ``None``.

    The blocks are parts of the recording, ``(frames, 2)`` each.

    >>> left = np.sin(np.arange(1000, dtype=np.float32))
    >>> cancelling_channel([np.stack((left, -0.9 * left), axis=1)])
    0
    >>> cancelling_channel([np.stack((left, 0 * left), axis=1)])
    """
    powers = np.zeros(3)
    for block in blocks:
        finite = np.nan_to_num(block.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
        powers += [np.square(signal).sum() for signal in (finite[:, 0], finite[:, 1], finite.mean(axis=1))]
    louder = int(powers[1] > powers[0])
    return louder if powers[2] < _CANCELLED * powers[louder] else None
