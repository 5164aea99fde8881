"""A cleaned transcript and its sound -> what was spoken.

The model can only insert disfluencies between the words of the transcript, or keep the words: ``clean_text`` finds the
places, ``slots`` and ``constraint`` decide which tokens may come next, ``search`` finds the most probable ones, and
``jobs`` is the command.
"""

from lsa_whisper.verbatimize.jobs import verbatimize

__all__ = ["verbatimize"]
