"""``Recording``: audio on disk; opened, brought to 16 kHz mono, cut to a ``TimeSpan``, or streamed in constant memory.

soundfile reads wav, flac, mp3, ogg, opus and aiff. What it cannot read (m4a, mp4, webm, a film's sound track), or reads
wrongly, goes through the ``ffmpeg`` program where that is installed. Samples that are not finite become silence.
"""

from lsa_whisper.audio.recording import AUDIO_SUFFIXES, Recording
from lsa_whisper.audio.samples import SAMPLE_RATE_HZ, Samples

__all__ = ["AUDIO_SUFFIXES", "SAMPLE_RATE_HZ", "Recording", "Samples"]
