"""Recordings -> CHAT transcripts that keep every disfluency.

``long_form`` decodes the windows of a whole recording, which :mod:`lsa_whisper.audio.speech_windows` cuts in silence,
with an engine of :mod:`lsa_whisper.decoding`, and ``assembly`` makes a CHAT transcript of the result.
``transcriber`` does this for one loaded model, with ``options`` and ``result`` as its interface. ``files`` writes
transcripts to disk, ``workers`` process many recordings in parallel, and ``jobs`` is the command. ``calibrate`` and
``choose_heads`` measure a model on a corpus. Importing this package loads no model library; the first
:class:`Transcriber` does.
"""

from lsa_whisper.transcription.files.outcome import TranscribedFile, TranscriptionSummary
from lsa_whisper.transcription.jobs import transcribe
from lsa_whisper.transcription.options import TranscriptionOptions
from lsa_whisper.transcription.result import TranscribedUtterance, TranscribedWord, TranscriptionResult
from lsa_whisper.transcription.transcriber import Transcriber

__all__ = [
    "TranscribedFile",
    "TranscribedUtterance",
    "TranscribedWord",
    "Transcriber",
    "TranscriptionOptions",
    "TranscriptionResult",
    "TranscriptionSummary",
    "transcribe",
]
