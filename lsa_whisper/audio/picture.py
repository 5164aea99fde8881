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
_TILE_TOP_DB, _TILE_RANGE_DB = 25.0, 65.0
"""Speech at a usual level reaches 20 to 25 dB in its loudest bands; a sine of full scale has 42 dB."""
_WHITE = 7
"""Pictures have 8 shades, a fifth of the size of 256."""

_Shades = NDArray[np.uint8]
_Powers = NDArray[np.float64]


def sound_picture(samples: Samples, most_columns: int = 800) -> bytes:
    """Return the waveform of ``samples`` above their log-mel spectrogram as PNG, dark on white.

    Args:
        samples: Mono, 16 kHz; fewer than 32 ms give no picture (no bytes).
        most_columns: Largest width in pixels; below it, a column is 10 ms.
    """
    if len(samples) < _FFT:
        return b""
    hop = max(_HOP, -(-len(samples) // most_columns))
    columns = np.pad(samples, (0, -len(samples) % hop)).reshape(-1, hop)
    level_db = _levels_db(samples, hop, len(columns))
    shades = np.vstack([_waveform(columns), _shades(level_db, float(level_db.max()), _RANGE_DB)])
    return _png(shades)


def spectrogram_tile(samples: Samples, hop: int, gain_db: float = 0.0) -> bytes:
    """Return the log-mel spectrogram of ``samples`` as PNG, dark on white, with a column for each ``hop`` samples.

    The shades are those of absolute levels, so that neighboring tiles fit together. The samples are mono, 16 kHz; quiet
    speech is drawn louder by ``gain_db``.
    """
    count = -(-len(samples) // hop)
    return _png(_shades(_levels_db(samples, hop, count), _TILE_TOP_DB - gain_db, _TILE_RANGE_DB))


def _png(shades: _Shades) -> bytes:
    from PIL import Image

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


def _shades(level_db: _Powers, top_db: float, range_db: float) -> _Shades:
    loudness = np.clip((level_db - top_db) / range_db + 1, 0, 1)
    shades: _Shades = np.rint(_WHITE * (1 - loudness)).astype(np.uint8)
    return shades.T[::-1]


def _levels_db(samples: Samples, hop: int, count: int) -> _Powers:
    padded = np.pad(samples, (_FFT // 2, _FFT // 2 + hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::hop][:count]
    power = np.abs(np.fft.rfft(frames * np.hanning(_FFT), axis=1)) ** 2
    levels: _Powers = 10 * np.log10(np.maximum(_mel_bands(power), 1e-10))
    return levels


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
