"""Mel spectrograms of clips, computed by librosa: pauses, blocks and prolongations are easier to see than to hear."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from lsa_whisper.audio import SAMPLE_RATE_HZ, Samples

_FFT = 512
_HOP = SAMPLE_RATE_HZ // 100
_MEL_BANDS = 64
_MAX_WIDTH = 800
_LEVEL_DB = 5.0
"""Levels are rounded to this step, which halves the size of the image."""


def spectrogram_png(samples: Samples) -> bytes:
    """Return a log-mel spectrogram of ``samples`` as PNG, at most 800 pixels wide; empty below 32 ms of audio."""
    if len(samples) < _FFT:
        return b""
    import librosa  # seconds, because of numba
    from matplotlib import image

    hop = max(_HOP, -(-len(samples) // _MAX_WIDTH))
    power = librosa.feature.melspectrogram(
        y=samples, sr=SAMPLE_RATE_HZ, n_fft=_FFT, hop_length=hop, n_mels=_MEL_BANDS, fmax=SAMPLE_RATE_HZ / 2
    )
    level_db = librosa.power_to_db(power, ref=1.0, top_db=60.0)
    file = BytesIO()
    image.imsave(file, np.round(level_db / _LEVEL_DB), cmap="gray_r", origin="lower", format="png")
    return file.getvalue()
