"""Recordings -> CHAT that keeps every stumble.

The way of a recording: ``speech`` finds where somebody speaks and cuts that to the model's context, ``engines`` write
text with timestamps, ``hearing`` leads a whole recording through one without loops, ``writing`` makes CHAT of it.
``transcriber`` is that way for one loaded model. ``files`` keeps what is on disk whole, ``workers`` share many
recordings out, and ``jobs`` is the command. ``calibrate`` and ``choose_heads`` measure a model on a corpus.
Importing this package loads no model library; the first :class:`Transcriber` does.
"""

from lsa_whisper.decoding.engines import ENGINES
from lsa_whisper.transcribe.files.outcome import FailedFile, TranscribedFile, TranscriptionSummary
from lsa_whisper.transcribe.jobs import transcribe
from lsa_whisper.transcribe.transcriber import Transcriber

__all__ = ["ENGINES", "FailedFile", "TranscribedFile", "Transcriber", "TranscriptionSummary", "transcribe"]
