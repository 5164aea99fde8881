"""Recordings on disk, loaded as 16 kHz mono: whole, by ``TimeSpan``, or streamed in constant memory.

soundfile reads wav, flac, mp3, ogg, opus and aiff. Other formats (m4a, mp4, webm, sound tracks of videos), and files
that soundfile reads incorrectly, are decoded with PyAV. Samples that are not finite become zero.
"""

from lsa_whisper.audio.recording import AUDIO_SUFFIXES, Recording
from lsa_whisper.audio.samples import SAMPLE_RATE_HZ, Samples

__all__ = ["AUDIO_SUFFIXES", "SAMPLE_RATE_HZ", "Recording", "Samples"]
