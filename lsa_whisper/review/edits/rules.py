"""CHAT's rules for an edit: what the checks of CHAT find after it that they did not find before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lsa_whisper.chat import Line, Problem, Transcript, Utterance, check
from lsa_whisper.chat.checks import tier_problems
from lsa_whisper.chat.checks.context import context_of
from lsa_whisper.chat.checks.dependent_tiers import dependent_problems
from lsa_whisper.chat.checks.lines import layout_problems
from lsa_whisper.review.edits.change import Change, EditError, with_blocks

_AROUND = 12


def verify_edit(before: Transcript, after: Transcript) -> None:
    """Return when an edit breaks no rule of CHAT that was kept before.

    Only the neighborhood of the change is checked, so that the time does not grow with the file.

    Raises:
        EditError: the first new problem, with its place in the text.
    """
    change = Change.between(before, after)
    old = Counter((one.code, one.message) for one in check(_neighborhood(before, change.at, len(change.removed))))
    for problem in check(_neighborhood(after, change.at, len(change.added))):
        key = (problem.code, problem.message)
        if not old[key]:
            raise EditError(_sentence(problem, change.added))
        old[key] -= 1


def text_problems(transcript: Transcript, utterance: Utterance) -> list[Problem]:
    r"""Return the problems of one utterance in itself, as they would be in the transcript.

    >>> from lsa_whisper.chat import parse
    >>> text_problems(draft := parse("@Participants:\tPAR Adult\n*PAR:\tI see two .\n"), draft.utterances[0])
    []
    """
    alone = Transcript([utterance], transcript.path, transcript.encoding)
    found = {
        *alone.problems,
        *layout_problems(alone),
        *tier_problems(transcript.path, utterance, context_of(transcript)),
        *dependent_problems(transcript.path, utterance),
    }
    return sorted(found, key=lambda problem: (problem.line, problem.column, problem.code))


def _neighborhood(transcript: Transcript, at: int, count: int) -> Transcript:
    """Return the headers, the changed blocks, their neighbors, and the next utterances of each speaker."""
    blocks = transcript.blocks
    low, high = max(0, at - _AROUND), min(len(blocks), at + count + _AROUND)
    near = set(range(low, high))
    seen: set[str] = set()
    for index in (*range(low - 1, max(-1, low - 200), -1), -1, *range(high, min(len(blocks), high + 200))):
        block = blocks[index] if index >= 0 else None
        if block is None:
            seen.clear()
        elif isinstance(block, Utterance) and block.speaker not in seen:
            seen.add(block.speaker)
            near.add(index)
    kept = [
        block
        for index, block in enumerate(blocks)
        if index in near or (isinstance(block, Line) and block.name.startswith("@"))
    ]
    made = with_blocks(transcript, kept)
    made.found = []
    return made


def _sentence(problem: Problem, added: Sequence[Line | Utterance]) -> str:
    first = next((one for one in added if isinstance(one, Utterance)), None)
    place = f" (character {problem.column - 6})" if first and problem.line == first.line and problem.column > 6 else ""
    remedy = problem.remedy or "correct it"
    return f"{problem.message}{place}; {remedy}, or undo"
