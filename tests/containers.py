"""Sound in containers that soundfile cannot write, encoded with PyAV."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

CODECS = {"webm": "libopus", "wma": "wmav2", "mp3": "libmp3lame", "amr": "libopencore_amrnb", "ogg": "libvorbis"}
FORMATS = {"wma": "asf", "m4a": "ipod", "mkv": "matroska"}


def encode(
    path: Path, samples: np.ndarray, rate_hz: int, *, codec="", video=False, late_s=0.0, bit_rate=96_000, **options
):
    """Write samples ``(frames,)`` or ``(frames, channels)`` and return the path."""
    suffix = path.suffix[1:]
    codec = codec or CODECS.get(suffix, "aac")
    try:
        av.Codec(codec, "w")
    except av.codec.codec.UnknownCodecError:
        pytest.skip(f"PyAV has no encoder {codec}")
    samples = samples.reshape(len(samples), -1).astype(np.float32)
    layout = {1: "mono", 2: "stereo"}[samples.shape[1]]
    with path.open("wb") as file, av.open(file, "w", FORMATS.get(suffix, suffix), options=options) as container:
        film = container.add_stream("mpeg4", rate=5) if video else None
        if film:
            film.width = film.height = 16
            film.pix_fmt = "yuv420p"
        stream = container.add_stream(codec, rate=48_000 if codec == "libopus" else rate_hz, layout=layout)
        stream.bit_rate = bit_rate
        stream.codec_context.options = {"strict": "experimental", **({"aac_pns": "0"} if codec == "aac" else {})}
        for n in range(int(5 * len(samples) / rate_hz) if film else 0):
            picture = av.VideoFrame(16, 16, "yuv420p")
            picture.pts, picture.time_base = n, Fraction(1, 5)
            container.mux(film.encode(picture))
        form = stream.codec_context.format
        resampler = av.AudioResampler(form, layout, stream.rate)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), "fltp", layout)
        frame.sample_rate, frame.time_base, frame.pts = rate_hz, Fraction(1, rate_hz), 0
        fifo = av.AudioFifo()
        for resampled in [*resampler.resample(frame), *resampler.resample(None)]:
            fifo.write(resampled)
        while part := fifo.read(stream.codec_context.frame_size or 1024, partial=True):
            part.pts += round(late_s * stream.rate)
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
        if film:
            container.mux(film.encode(None))
    return path
