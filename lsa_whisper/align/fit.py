"""Whether a transcript is one of the recording at all, by the words that free transcription has of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsa_whisper.align.aligner import AlignedText

MIN_RECOGNIZED = 0.15
"""Share of the words of a transcript below which it may be one of another recording. Of five real recordings with
their own transcripts, whisper-base recognized 27 to 91 % of the words, with the transcript of another one 6 %."""
MIN_WORDS = 10
"""Fewer words than this, in the transcript or heard, prove nothing: of overlapped speech, few are heard."""


def is_misfit(aligned: AlignedText) -> bool:
    """Return whether a transcript may be one of another recording: free transcription has hardly a word of it."""
    recognized = int(aligned.matches.alignment.equal.sum())
    enough = min(len(aligned.words), len(aligned.decoded)) >= MIN_WORDS
    return enough and recognized < MIN_RECOGNIZED * len(aligned.words)
