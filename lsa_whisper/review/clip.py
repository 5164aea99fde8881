"""A part of a recording as a WAV file, for recordings that browsers cannot play."""

from __future__ import annotations

import io

import soundfile as sf

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.timespan import TimeSpan

_MAX_MS = 60_000


def wav_clip(recording: Recording, start_ms: int, end_ms: int) -> bytes:
    """Return up to a minute of a recording, 16 kHz mono, as WAV.

    Raises:
        AudioError: the span is empty, or begins after the end of the recording.
    """
    samples = recording.load(TimeSpan(start_ms, min(end_ms, start_ms + _MAX_MS)))
    file = io.BytesIO()
    sf.write(file, samples, SAMPLE_RATE_HZ, format="WAV", subtype="PCM_16")
    return file.getvalue()
