"""Our models as an engine of Batchalign, TalkBank's pipeline; the only room that imports ``batchalign``.

Batchalign rewrites what an engine transcribes: it splits, spells, and drops most of CHAT's marks. So
:class:`~lsa_whisper.batchalign_engine.backend.LsaWhisperBackend` is two of its tasks in one. As ASR it gives one opaque
``xxx`` for each utterance, in which there is nothing to rewrite; as utterance segmenter it then puts the CHAT text in
its place. ``wording`` makes sure that Batchalign accepts the text, ``finish`` gives back what it drops (who spoke, and
remarks), ``transcripts`` does so for many files, and ``command`` adds the engine to the ``batchalign`` command.

Importing this package needs no Batchalign; using it does.
"""

from lsa_whisper.batchalign_engine.command import register, run
from lsa_whisper.batchalign_engine.transcripts import transcribe

__all__ = ["register", "run", "transcribe"]
