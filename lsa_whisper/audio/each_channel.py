"""The channels of a recording with one microphone per speaker, each as a recording of its own."""

from __future__ import annotations

from dataclasses import replace

from lsa_whisper.audio.recording import Recording, excerpts
from lsa_whisper.audio.samples import are_same
from lsa_whisper.errors import AudioError


def each_channel(recording: Recording, count: int) -> list[Recording]:
    """Return the ``count`` channels of a recording.

    Raises:
        AudioError: The recording has another number of channels, or the same sound in all.
    """
    if count != recording.channels:
        raise AudioError(f"{recording.path}: has {recording.channels} channels, not {count}; name one speaker for each")
    if are_same(excerpts(recording)):
        message = "has the same sound in all its channels, so they do not tell speakers apart"
        raise AudioError(f"{recording.path}: {message}; leave out --channels, and give --speakers if you have turns")
    return [replace(recording, channel=channel, cancels=False) for channel in range(count)]
