"""Audio files in memory, such as those inside Parquet shards."""

from __future__ import annotations

import io

import numpy as np
import soundfile as sf
import soxr

from lsa_whisper.audio.samples import SAMPLE_RATE_HZ, Samples, mono
from lsa_whisper.errors import AudioError


def decode_audio(data: bytes, place: str) -> Samples:
    """Return the samples in an audio file's bytes, float32, mono, 16 kHz, shape ``(samples,)``.

    Raises:
        AudioError: soundfile cannot read them; the message begins with ``place``.
    """
    try:
        samples, rate = sf.read(io.BytesIO(data), dtype="float32")
    except sf.LibsndfileError as error:
        raise AudioError(f"{place}: the audio inside cannot be read; prepare the shards again") from error
    mixed = mono(samples)
    if rate != SAMPLE_RATE_HZ:
        mixed = soxr.resample(mixed, rate, SAMPLE_RATE_HZ).astype(np.float32, copy=False)
    return mixed
