"""The end of a draft: where every utterance is reviewed, the header says that a person has checked the transcript."""

from __future__ import annotations

from lsa_whisper.chat import Line, Transcript
from lsa_whisper.labels import is_draft, read_coverage
from lsa_whisper.labels.coverage import CHECKED, NOT_CHECKED
from lsa_whisper.page.language import gettext
from lsa_whisper.review.edits.change import with_blocks


def with_checked_state(transcript: Transcript) -> Transcript:
    r"""Return the transcript with a header that says whether a person has checked all of it.

    The state is the end of the comment in which a program says that it wrote the transcript; without one, nothing is
    changed.

    >>> from lsa_whisper.chat import parse, serialize
    >>> done = parse("@Comment:\twritten; not checked by a person\n*A:\tyes .\n%xrev:\treviewed\n")
    >>> serialize(with_checked_state(done)).splitlines()[0]
    '@Comment:\twritten; checked by a person'
    """
    complete = bool(transcript.utterances) and all(each.reviewed for each in transcript.utterances)
    old, new = (NOT_CHECKED, CHECKED) if complete else (CHECKED, NOT_CHECKED)
    lines = {
        at: Line(_replaced(block.raw, old, new), block.number)
        for at, block in enumerate(transcript.blocks)
        if isinstance(block, Line) and block.name == "@Comment" and block.value.endswith(f"; {old}")
    }
    if not lines:
        return transcript
    return with_blocks(transcript, [lines.get(at, block) for at, block in enumerate(transcript.blocks)])


def draft_banner(transcript: Transcript) -> str:
    """Return what a person must know who checks a draft; empty if none is needed."""
    if not is_draft(transcript):
        return ""
    remedy = gettext("Listen to every utterance, add what is missing, and mark it as reviewed (y).")
    draft = gettext("Draft by a model, not checked by a person.")
    return " ".join(filter(None, (draft, _left_out(transcript), remedy)))


def _left_out(transcript: Transcript) -> str:
    sentence = read_coverage(transcript).sentence().partition(": ")[0]
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _replaced(raw: str, old: str, new: str) -> str:
    """Return a line with another end; a line that is folded there is left as it is."""
    before, found, behind = raw.rpartition(f"; {old}")
    return f"{before}; {new}{behind}" if found else raw
