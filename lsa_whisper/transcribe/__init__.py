"""Recordings -> CHAT that keeps every stumble.

The way of a recording: ``speech`` finds where somebody speaks, ``windows`` cuts that to the model's context,
``decode_hf`` writes text with time stamps, ``assemble`` makes a transcript of it, ``jobs`` does so for many files.
Importing this package loads no model library; the first :class:`Transcriber` does.
"""

from lsa_whisper.transcribe.jobs import transcribe
from lsa_whisper.transcribe.outcome import Done, Failure, Transcribed
from lsa_whisper.transcribe.transcriber import ENGINES, Transcriber

__all__ = ["ENGINES", "Done", "Failure", "Transcribed", "Transcriber", "transcribe"]
