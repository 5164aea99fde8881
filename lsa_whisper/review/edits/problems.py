"""CHAT's rules for an edit: problems that are new after it, and what is proposed to correct a problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from lsa_whisper.chat import Line, Problem, Transcript, Utterance, check
from lsa_whisper.chat.checks import tier_problems
from lsa_whisper.chat.checks.context import context_of
from lsa_whisper.chat.checks.dependent_tiers import dependent_problems
from lsa_whisper.chat.checks.lines import layout_problems
from lsa_whisper.chat.filled_pauses import fillers
from lsa_whisper.labels.numbers import can_spell_numbers, spell_number
from lsa_whisper.review.edits.change import Change, EditError
from lsa_whisper.review.edits.utterances import with_text

_AROUND = 12


def verify_edit(before: Transcript, after: Transcript) -> None:
    """Return when an edit breaks no rule of CHAT that was kept before.

    Only the neighborhood of the change is checked, so that the time does not grow with the file.

    Raises:
        EditError: The first new problem, with its place in the text.
    """
    change = Change.between(before, after)
    old = Counter((fault.code, fault.message) for fault in check(_neighborhood(before, change.at, len(change.removed))))
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
    problems = {
        *alone.problems,
        *layout_problems(alone),
        *tier_problems(transcript.path, utterance, context_of(transcript)),
        *dependent_problems(transcript.path, utterance),
    }
    return sorted(problems, key=lambda problem: (problem.line, problem.column, problem.code))


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
    near_blocks = [
        block
        for index, block in enumerate(blocks)
        if index in near or (isinstance(block, Line) and block.name.startswith("@"))
    ]
    return replace(transcript, blocks=near_blocks, found=[])


def _sentence(problem: Problem, added: Sequence[Line | Utterance]) -> str:
    first = next((block for block in added if isinstance(block, Utterance)), None)
    place = f" (character {problem.column - 6})" if first and problem.line == first.line and problem.column > 6 else ""
    remedy = problem.remedy or "correct it"
    return f"{problem.message}{place}; {remedy}, or undo"


_ROUNDS = 6
_CUT_OFF = re.compile(r"(?<!\S)([^\W\d_]+)-(?!\S)")
_WORD = re.compile(r"(?<!\S)[^\W\d_]+(?!\S)")
_HASH = re.compile(r"(?<!\S)#+(?=\s|[^\W\d_])")
_COPIES = re.compile(r"(\S+)\s*\[x\s*(\d+)\s*\]", re.IGNORECASE)


def find_problems(transcript: Transcript, number: int, text: str) -> list[Problem]:
    """Return what CHAT's checks find in ``text`` as the text of utterance ``number``, columns counted in the text."""
    old = transcript.utterances[number]
    new = with_text(old, text)
    offset = len(new.main) - len(new.body)
    problems = text_problems(transcript, new)
    return [Problem(None, 1, max(1, problem.column - offset), problem.code, problem.message) for problem in problems]


def propose(transcript: Transcript, number: int, text: str) -> str | None:
    r"""Return a text without problems near ``text``; ``None`` if there is nothing to propose.

    >>> from lsa_whisper.chat import parse
    >>> propose(parse("@Languages:\teng\n*PAR:\tno .\n"), 0, "I see 2 dogs")
    'I see two dogs .'
    """
    proposal = text
    for _ in range(_ROUNDS):
        codes = [problem.code for problem in find_problems(transcript, number, proposal) if problem.code in _REMEDIES]
        if not codes:
            break
        proposal = _REMEDIES[codes[0]](proposal, (transcript.languages or ["eng"])[0])
    if proposal == text or any(problem.code in _REMEDIES for problem in find_problems(transcript, number, proposal)):
        return None
    return proposal


def propose_marks(transcript: Transcript, text: str) -> str | None:
    r"""Return a valid text with the marks of CHAT in place of other notations; ``None`` if there are none.

    >>> from lsa_whisper.chat import parse
    >>> propose_marks(parse("@Languages:\teng\n*PAR:\tno .\n"), "um I wan- want # it #hey .")
    '&-um I &+wan want (.) it (.) hey .'
    """
    words = fillers((transcript.languages or ["eng"])[0])
    proposal = _CUT_OFF.sub(r"&+\1", _HASH.sub("(.) ", text))
    proposal = _WORD.sub(lambda match: f"&-{match[0].lower()}" if match[0].lower() in words else match[0], proposal)
    return None if proposal == text else proposal.replace("(.)  ", "(.) ")


def _one_terminator(text: str, _: str) -> str:
    """Remove terminators inside the text."""
    return re.sub(r"\s+[.?!](?=\s+\S*\w)", "", text)


def _closed(text: str, _: str) -> str:
    """Close a group before the code that follows it, or take its sign away."""
    missing = text.count("<") - text.count(">")
    code = re.search(r"\s*\[/+-?\]", text)
    if missing > 0 and code and "<" in text[: code.start()]:
        return f"{text[: code.start()]}>{text[code.start() :]}"
    return text.replace("<", "").replace(">", "")


def _unmarked(text: str, _: str) -> str:
    """Take away a retrace code without words before or after it."""
    text = re.sub(r"\A\s*\[/+-?\]\s*", "", text)
    return re.sub(r"\s*\[/+-?\](?=\s*(?:&=\S+\s*)*(?:[.?!]|\+\S+|\Z))", "", text)


def _untranscribed(text: str, _: str) -> str:
    return re.sub(r"\b([xyw])\1{1,5}\b", lambda match: match[1] * 3, text, flags=re.IGNORECASE).replace("XXX", "xxx")


def _spelled_numbers(text: str, language: str) -> str:
    if not can_spell_numbers(language):
        return text
    return re.sub(r"\b\d+(?:\.\d+)?\b", lambda match: spell_number(match[0], language=language), text)


_REMEDIES: dict[str, Callable[[str, str], str]] = {
    "no-terminator": lambda text, _: f"{text.rstrip(' ,;:-')} .",
    "inner-terminator": _one_terminator,
    "after-terminator": _one_terminator,
    "digits": _spelled_numbers,
    "apostrophe": lambda text, _: text.replace("’", "'").replace("‘", "'"),
    "unclosed-group": _closed,
    "opaque": _closed,
    "retrace-without-words": _unmarked,
    "retrace-without-repair": _unmarked,
    "empty-word": lambda text, _: re.sub(r"(?:(?<=\s)|\A)&[-+~](?=\s|\Z)\s*", "", text),
    "untranscribed": _untranscribed,
    "obsolete-repetition": lambda text, _: _COPIES.sub(lambda it: " [/] ".join([it[1]] * min(int(it[2]), 20)), text),
    "obsolete-pause": lambda text, _: _HASH.sub("(.) ", text).replace("(.)  ", "(.) "),
    "unspecified-retrace": lambda text, _: text.replace("[/?]", "[/]"),
}
"""By the code of a problem: what corrects it, from the text and the language."""
