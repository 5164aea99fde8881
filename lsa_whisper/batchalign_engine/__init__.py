"""A model of this package as an engine of Batchalign, TalkBank's pipeline; only this package imports ``batchalign``.

Batchalign rewrites the output of an ASR engine: it splits words, changes their spelling and drops most CHAT marks. So
:class:`~lsa_whisper.batchalign_engine.backend.LsaWhisperBackend` implements two of its tasks. As ASR it returns an
opaque ``xxx`` for each utterance, which leaves nothing to rewrite; as utterance segmenter it returns the CHAT text.
``chat`` ensures that Batchalign accepts the text, and restores what Batchalign drops (speakers and comments),
``transcripts`` processes many files, and ``command`` adds the engine to the ``batchalign`` command.

This package can be imported without Batchalign, but not used.
"""

from lsa_whisper.batchalign_engine.command import register, run_batchalign
from lsa_whisper.batchalign_engine.transcripts import transcribe_with_batchalign

__all__ = ["register", "run_batchalign", "transcribe_with_batchalign"]
