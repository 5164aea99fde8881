"""Dependent tiers that a reviewer writes: ``%com`` for a comment, ``%xrev`` for what was reviewed."""

from __future__ import annotations

from dataclasses import replace

from lsa_whisper.chat import Line, Transcript
from lsa_whisper.chat.main_tier import REVIEWED_TIER
from lsa_whisper.review.edits.change import line_end, put

_COMMENT = "%com"


def set_reviewed(transcript: Transcript, number: int, reviewed: bool = True) -> Transcript:
    """Return the transcript with utterance ``number`` reviewed or not.

    The state is a tier ``%xrev``: CLAN accepts every tier whose name begins with ``%x``.
    """
    return _set_tier(transcript, number, REVIEWED_TIER, "reviewed" if reviewed else "")


def set_comment(transcript: Transcript, number: int, comment: str) -> Transcript:
    """Return the transcript with ``comment`` as the ``%com`` tier of utterance ``number``; empty removes the tier."""
    return _set_tier(transcript, number, _COMMENT, " ".join(comment.replace("\x15", " ").split()))


def _set_tier(transcript: Transcript, number: int, name: str, value: str) -> Transcript:
    old = transcript.utterances[number]
    present = next((at for at, tier in enumerate(old.tiers) if tier.name == name), None)
    tiers = list(old.tiers)
    if present is not None and tiers[present].value == value:
        return transcript
    new = [Line(f"{name}:\t{value}{line_end(old)}", 0)] if value else []
    at = len(tiers) if present is None else present
    tiers[at : at + (present is not None)] = new
    return put(transcript, number, [replace(old, tiers=tuple(tiers))])
