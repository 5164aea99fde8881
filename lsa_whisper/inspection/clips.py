"""Audio clips and their pictures, to be embedded in a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.audio import Recording
from lsa_whisper.audio.clip import data_url, encode_audio
from lsa_whisper.audio.picture import sound_picture
from lsa_whisper.errors import AudioError
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True)
class Clip:
    """The audio, and its waveform and spectrogram, as ``data:`` URLs, or the problem that prevented them."""

    address: str = ""
    problem: str = ""
    picture: str = ""


def load_clip(recording: Path | str, span: TimeSpan) -> Clip:
    """Return the sound of ``span``; a recording that cannot be read gives a clip with a problem."""
    try:
        samples = Recording.open(recording).load(span)
    except AudioError as error:
        return Clip(problem=str(error))
    kind, data = encode_audio(samples)
    return Clip(data_url(f"audio/{kind}", data), "", data_url("image/png", sound_picture(samples)))
