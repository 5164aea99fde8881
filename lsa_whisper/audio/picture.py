"""Sound as a picture: its waveform above its mel spectrogram.

Pauses, blocks and prolongations are easier to see than to hear.
"""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.audio.samples import SAMPLE_RATE_HZ, Samples

_FFT = 512
_HOP = SAMPLE_RATE_HZ // 100
_MEL_BANDS = 64
_WAVEFORM_ROWS = 32
_RANGE_DB = 60.0
_WHITE = 7
"""Pictures have 8 shades, a fifth of the size of 256."""

_Shades = NDArray[np.uint8]
_Powers = NDArray[np.float64]


def sound_picture(samples: Samples, most_columns: int = 800) -> bytes:
    """Return the waveform of ``samples`` above their log-mel spectrogram as PNG, dark on white.

    Args:
        samples: mono, 16 kHz; fewer than 32 ms give no picture (no bytes).
        most_columns: largest width in pixels; below it, a column is 10 ms.
    """
    if len(samples) < _FFT:
        return b""
    from PIL import Image

    hop = max(_HOP, -(-len(samples) // most_columns))
    columns = np.pad(samples, (0, -len(samples) % hop)).reshape(-1, hop)
    shades = np.vstack([_waveform(columns), _spectrogram(samples, hop, len(columns))])
    picture = Image.fromarray(shades).convert("P")
    picture.putpalette([level for shade in range(_WHITE + 1) for level in (255 * shade // _WHITE,) * 3])
    file = BytesIO()
    picture.save(file, "PNG", bits=4, optimize=True)
    return file.getvalue()


def _waveform(columns: NDArray[np.float32]) -> _Shades:
    """Return a row of pixels for each step of level, dark from the lowest to the highest sample of each column."""
    middle, top = _WAVEFORM_ROWS // 2, max(float(np.abs(columns).max()), 1e-4)
    low, high = (np.rint(middle - middle * extreme(columns, axis=1) / top) for extreme in (np.max, np.min))
    rows = np.arange(_WAVEFORM_ROWS)[:, None]
    dark = (rows >= np.minimum(low, middle)) & (rows < np.maximum(high, middle + 1))
    return np.where(dark, 2, _WHITE).astype(np.uint8)


def _spectrogram(samples: Samples, hop: int, count: int) -> _Shades:
    padded = np.pad(samples, (_FFT // 2, _FFT // 2 + hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::hop][:count]
    power = np.abs(np.fft.rfft(frames * np.hanning(_FFT), axis=1)) ** 2
    level_db = 10 * np.log10(np.maximum(_mel_bands(power), 1e-10))
    loudness = np.clip((level_db - level_db.max()) / _RANGE_DB + 1, 0, 1)
    shades: _Shades = np.rint(_WHITE * (1 - loudness)).astype(np.uint8)
    return shades.T[::-1]


def _mel_bands(power: _Powers) -> _Powers:
    """Return the mean power of each mel band, exact also for bands that are narrower than a bin of the spectrum."""
    top_mel = 2595 * np.log10(1 + SAMPLE_RATE_HZ / 2 / 700)
    edges_hz = 700 * (10 ** (np.linspace(0, top_mel, _MEL_BANDS + 1) / 2595) - 1)
    edges = edges_hz / (SAMPLE_RATE_HZ / 2) * power.shape[1]
    total = np.concatenate([np.zeros((len(power), 1)), np.cumsum(power, axis=1)], axis=1)
    below = edges.astype(int).clip(0, power.shape[1] - 1)
    at_edge = total[:, below] + (edges - below) * power[:, below]
    bands: _Powers = np.diff(at_edge, axis=1) / np.diff(edges)
    return bands
