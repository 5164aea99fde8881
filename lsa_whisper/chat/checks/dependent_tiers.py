"""Checks of dependent tiers: their names, and whether they have text and the form of ``%tim`` and others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsa_whisper.chat.checks.morphology import TierPart, alignment_faults
from lsa_whisper.chat.codes import DEPENDENT_TIERS
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import Utterance

_NAME_LENGTH = 8
_FREE = re.compile(r"%x[A-Za-z0-9_]+")
_CLOCK = r"\d{1,2}(?::[0-5]\d){1,2}"
_TIM = re.compile(rf"(?:{_CLOCK}|\d{{1,2}})(?:-{_CLOCK})?")


def dependent_problems(path: str | None, utterance: Utterance) -> Iterator[Problem]:
    """Yield the problems of ``utterance``'s dependent tiers."""
    seen: set[str] = set()
    for tier in utterance.tiers:
        if not tier.name:
            continue
        for offset, code, message in _form(tier):
            yield _problem(path, utterance, tier, offset, code, message)
        if tier.name in seen:
            yield _problem(path, utterance, tier, 0, "twin-tier", f"a second {tier.name}")
        seen.add(tier.name)
    for tier, offset, code, message in alignment_faults(utterance):
        yield _problem(path, utterance, tier, offset, code, message)


def _problem(path: str | None, utterance: Utterance, tier: Line, offset: int, code: str, message: str) -> Problem:
    line, column = tier.place(offset) if tier.number else (utterance.line or 1, 1)
    return Problem(path, line, column, code, message)


def _form(tier: Line) -> Iterator[TierPart]:
    if tier.name not in DEPENDENT_TIERS and not _FREE.fullmatch(tier.name):
        yield 0, "unknown-tier", f"{tier.name} is not a dependent tier of CHAT"
    if len(tier.name) > _NAME_LENGTH and tier.name not in DEPENDENT_TIERS:
        yield 0, "tier-name", f"{tier.name} has more than {_NAME_LENGTH - 1} letters"
    if ":" not in tier.raw:
        yield 0, "missing-colon", f"{tier.name} needs a colon and text"
    elif not tier.value:
        yield 0, "missing-text", f"no text follows {tier.name}:"
    elif tier.name == "%tim" and not _TIM.fullmatch(tier.value):
        yield 0, "time", f"{tier.value!r} is not a time like 8:30:31"
