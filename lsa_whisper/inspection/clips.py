"""Audio clips and spectrograms of manifest rows, to be embedded in a page."""

from __future__ import annotations

from dataclasses import dataclass

from lsa_whisper.audio import Recording
from lsa_whisper.audio.clip import data_url, encode_audio
from lsa_whisper.errors import AudioError
from lsa_whisper.inspection.spectrogram import spectrogram_png
from lsa_whisper.manifest import Segment


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
    kind, data = encode_audio(samples)
    return Clip(data_url(f"audio/{kind}", data), "", data_url("image/png", spectrogram_png(samples)))
