"""Forced alignment: known text and its recording -> the time of each utterance and word.

``transcripts`` and ``text`` read what is aligned, ``anchors`` finds places in the model's own transcript, ``ranges``
divides the text among windows, ``model`` gives the attention to known text, and ``aligner`` combines them.
``doubts`` judges the result, ``transcripts`` puts the times into the transcript, and ``jobs`` is the command.
"""

from lsa_whisper.align.jobs import align_transcripts

__all__ = ["align_transcripts"]
