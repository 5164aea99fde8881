"""Language sample analysis with Whisper: transcripts that keep every um, repetition and restart."""

__version__ = "0.1.0"
