"""Checks of CHAT's rules."""

from __future__ import annotations

from collections.abc import Callable

from lsa_whisper.chat.check_tier import tier_problems
from lsa_whisper.chat.checks.context import context_of, value_place
from lsa_whisper.chat.checks.dependent_tiers import dependent_problems
from lsa_whisper.chat.checks.header_lines import header_problems
from lsa_whisper.chat.checks.layout import layout_problems
from lsa_whisper.chat.checks.media import media_problems, time_problems
from lsa_whisper.chat.checks.participants import participant_problems
from lsa_whisper.chat.lines import Problem
from lsa_whisper.chat.model import Transcript

_PLACEHOLDERS = ("aaa", "xxx", "zzz")


def check(transcript: Transcript, *, known_language: Callable[[str], bool] | None = None) -> list[Problem]:
    r"""Return all violations in order of position; an empty list for a valid transcript.

    Args:
        transcript: The transcript.
        known_language: Whether a language code of three letters exists; without it any such code is valid.

    >>> from lsa_whisper.chat import parse
    >>> [problem.code for problem in check(parse("@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR Adult\n"
    ... "@ID:\teng|corpus|PAR|||||Adult|||\n*PAR:\tI see 2 dogs [//] .\n@End\n"))]
    ['digits', 'retrace-without-repair']
    """
    found = set(transcript.problems)
    for part in (header_problems, layout_problems, participant_problems, media_problems, time_problems):
        found.update(part(transcript))
    context = context_of(transcript)
    for utterance in transcript.utterances:
        found.update(tier_problems(transcript.path, utterance, context))
        found.update(dependent_problems(transcript.path, utterance))
    if known_language:
        found.update(_unknown_languages(transcript, known_language))
    return sorted(found, key=lambda problem: (problem.line, problem.column, problem.code))


def _is_unknown(code: str, known_language: Callable[[str], bool]) -> bool:
    """Return whether a language does not exist; ``aaa`` does, but stands for one that was not filled in."""
    return code in _PLACEHOLDERS or not known_language(code)


def _unknown_languages(transcript: Transcript, known_language: Callable[[str], bool]) -> list[Problem]:
    line = next((line for line in transcript.headers if line.name == "@Languages"), None)
    codes = [code for code in transcript.languages if len(code) == 3 and _is_unknown(code, known_language)]
    return [
        Problem(transcript.path, *value_place(line, code), "unknown-language", f"there is no language {code!r}")
        for code in codes
        if line
    ]
