"""Audio files in memory: short clips to be embedded in a page, and the sound inside Parquet shards.

The format of clips is MP3, because every browser plays it (Ogg Opus is half as large, but older versions of Safari
cannot play it). If libsndfile was built without MP3, the format is FLAC, which is larger and also plays everywhere.
"""

from __future__ import annotations

import base64
import io
from io import BytesIO

import numpy as np
import soundfile as sf
import soxr

from lsa_whisper.audio.samples import SAMPLE_RATE_HZ, Samples, mono
from lsa_whisper.errors import AudioError

_MP3_QUALITY = 0.6  # of LAME's scale from 0 (best) to 1; about 5 kB a second


def encode_audio(samples: Samples, *, mp3: bool | None = None) -> tuple[str, bytes]:
    """Return the MIME subtype (``mpeg`` or ``flac``) and the bytes of an audio file with ``samples``.

    The samples are mono, 16 kHz. They become MP3 by default where libsndfile can write it.
    """
    mp3 = "MP3" in sf.available_formats() if mp3 is None else mp3
    file = BytesIO()
    if mp3:
        how = {"format": "MP3", "bitrate_mode": "VARIABLE", "compression_level": _MP3_QUALITY}
    else:
        how = {"format": "FLAC", "subtype": "PCM_16"}
    sf.write(file, samples, SAMPLE_RATE_HZ, **how)
    return "mpeg" if mp3 else "flac", file.getvalue()


def data_url(mime: str, data: bytes) -> str:
    """Return ``data`` as a ``data:`` URL; empty for no data.

    >>> data_url("image/png", b"ab")
    'data:image/png;base64,YWI='
    """
    return f"data:{mime};base64,{base64.b64encode(data).decode()}" if data else ""


def decode_audio(data: bytes, place: str) -> Samples:
    """Return the samples in an audio file's bytes, float32, mono, 16 kHz, shape ``(samples,)``.

    Raises:
        AudioError: soundfile cannot read them; the message begins with ``place``.
    """
    try:
        samples, rate = sf.read(io.BytesIO(data), dtype="float32")
    except sf.LibsndfileError as error:
        raise AudioError(f"{place}: the audio inside cannot be read; prepare the shards again") from error
    signal = mono(samples)
    if rate != SAMPLE_RATE_HZ:
        signal = soxr.resample(signal, rate, SAMPLE_RATE_HZ).astype(np.float32, copy=False)
    return signal
