"""Audio clips of manifest rows, compressed to be embedded in a page.

The format is MP3, because every browser plays it (Ogg Opus is half as large, but older versions of Safari cannot play
it). If libsndfile was built without MP3, the format is FLAC, which is larger and also plays everywhere.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO

import soundfile as sf

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording, Samples
from lsa_whisper.errors import AudioError
from lsa_whisper.inspection.spectrogram import spectrogram_png
from lsa_whisper.manifest import Segment

_MP3_QUALITY = 0.6  # of LAME's scale from 0 (best) to 1; about 5 kB a second


@dataclass(frozen=True)
class Clip:
    """The audio and spectrogram of a row as ``data:`` URLs, or the problem that prevented them."""

    address: str = ""
    problem: str = ""
    spectrogram: str = ""


def load_clip(row: Segment) -> Clip:
    """Return the audio of ``row``; a recording that cannot be read gives a clip with a problem."""
    try:
        samples = Recording.open(row.audio_filepath).load(row.span)
    except AudioError as error:
        return Clip(problem=str(error))
    kind, data = encode_audio(samples, mp3="MP3" in sf.available_formats())
    return Clip(_data_url(f"audio/{kind}", data), "", _data_url("image/png", spectrogram_png(samples)))


def _data_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}" if data else ""


def encode_audio(samples: Samples, *, mp3: bool = True) -> tuple[str, bytes]:
    """Return the MIME subtype (``mpeg`` or ``flac``) and the bytes of an audio file with ``samples``."""
    file = BytesIO()
    if mp3:
        how = {"format": "MP3", "bitrate_mode": "VARIABLE", "compression_level": _MP3_QUALITY}
    else:
        how = {"format": "FLAC", "subtype": "PCM_16"}
    sf.write(file, samples, SAMPLE_RATE_HZ, **how)
    return "mpeg" if mp3 else "flac", file.getvalue()
