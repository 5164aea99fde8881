"""What a reviewer adds to a transcript: comments, which utterances are reviewed, and whether all of it is checked.

A comment is a tier ``%com``, a reviewed utterance has ``%xrev``. Where every utterance is reviewed, the header says
that a person has checked the transcript.
"""

from __future__ import annotations

from dataclasses import replace

from lsa_whisper.chat import Line, Transcript, Utterance
from lsa_whisper.chat.main_tier import REVIEWED_TIER
from lsa_whisper.labels import is_draft, read_coverage
from lsa_whisper.labels.coverage import CHECKED, NOT_CHECKED
from lsa_whisper.page.language import gettext
from lsa_whisper.review.edits.change import line_end, put

_COMMENT = "%com"


def set_reviewed(transcript: Transcript, number: int, reviewed: bool = True) -> Transcript:
    """Return the transcript with utterance ``number`` reviewed or not.

    The state is a tier ``%xrev``: CLAN accepts every tier whose name begins with ``%x``.
    """
    return _set_tier(transcript, number, REVIEWED_TIER, "reviewed" if reviewed else "")


def comment_of(utterance: Utterance) -> str:
    """Return the comment on an utterance, or an empty text."""
    return next((tier.value for tier in utterance.tiers if tier.name == _COMMENT), "")


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


def with_checked_state(transcript: Transcript) -> Transcript:
    r"""Return the transcript with a header that says whether a person has checked all of it.

    The state is the end of the comment in which a program says that it wrote the transcript; without one, nothing is
    changed.

    >>> from lsa_whisper.chat import parse, serialize
    >>> done = parse("@Comment:\twritten; not checked by a person\n*A:\tyes .\n%xrev:\treviewed\n")
    >>> serialize(with_checked_state(done)).splitlines()[0]
    '@Comment:\twritten; checked by a person'
    """
    complete = bool(transcript.utterances) and all(utterance.reviewed for utterance in transcript.utterances)
    old, new = (NOT_CHECKED, CHECKED) if complete else (CHECKED, NOT_CHECKED)
    lines = {
        at: Line(_replaced(block.raw, old, new), block.number)
        for at, block in enumerate(transcript.blocks)
        if isinstance(block, Line) and block.name == "@Comment" and block.value.endswith(f"; {old}")
    }
    if not lines:
        return transcript
    return replace(transcript, blocks=[lines.get(at, block) for at, block in enumerate(transcript.blocks)])


def draft_banner(transcript: Transcript) -> str:
    """Return what a person must know who checks a draft; empty if none is needed."""
    if not is_draft(transcript):
        return ""
    remedy = gettext("Listen to every utterance, add what is missing, and mark it as reviewed (y).")
    draft = gettext("Draft by a model, not checked by a person.")
    left_out = read_coverage(transcript).sentence().partition(": ")[0]
    left_out = f"{left_out[:1].upper()}{left_out[1:]}." if left_out else ""
    return " ".join(filter(None, (draft, left_out, remedy)))


def _replaced(raw: str, old: str, new: str) -> str:
    """Return a line with another end; a line that is folded there is left as it is."""
    before, separator, behind = raw.rpartition(f"; {old}")
    return f"{before}; {new}{behind}" if separator else raw
