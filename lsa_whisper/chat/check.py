"""Checks of CHAT's rules; numbers in comments are those of the same rules in CLAN's CHECK."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.chat.check_tier import tier_problems
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.model import Transcript

_ROLE_NAMES = """
    Adult Attorney Audience Boy Brother Caretaker Child Doctor Environment Father Female Friend Girl Grandfather
    Grandmother Group Guest Host Investigator Justice LENA Leader Male Media Member Mother Narrator Nurse Other
    Participant Partner Player Playmate Playrole Relative Sibling Sister Speaker Student Subject Target_Adult
    Target_Child Teacher Teenager Text Therapist Uncertain Unidentified Visitor Witness
"""
PARTICIPANT_ROLES = frozenset(_ROLE_NAMES.split())
_AGE = re.compile(r"(?:\d{1,3};(?:\d\d\.(?:\d\d)?)?)?")
_REQUIRED = ("@UTF8", "@Begin", "@Languages", "@Participants", "@End")


def check(transcript: Transcript) -> list[Problem]:
    r"""Return all violations in order of position; an empty list for a valid transcript.

    >>> from lsa_whisper.chat import parse
    >>> [problem.code for problem in check(parse("@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR Adult\n"
    ... "@ID:\teng||PAR|||||Adult|||\n*PAR:\tI see 2 dogs [//] .\n@End\n"))]
    ['digits', 'retrace-without-repair']
    """
    found = set(transcript.problems)
    found.update(_headers(transcript))
    found.update(_speakers(transcript))
    found.update(_media(transcript))
    found.update(_times(transcript))
    for utterance in transcript.utterances:
        found.update(tier_problems(transcript, utterance))
    return sorted(found, key=lambda problem: (problem.line, problem.column, problem.code))


def _headers(transcript: Transcript) -> Iterator[Problem]:
    names = [line.name for line in transcript.headers]
    for name in _REQUIRED:
        if name not in names:
            yield Problem(transcript.path, 1, 1, "missing-header", f"{name} is missing")
    if transcript.blocks and (not isinstance(transcript.blocks[0], Line) or names[:1] != ["@UTF8"]):
        yield Problem(transcript.path, 1, 1, "first-line", "the first line must be @UTF8")
    if "@End" in names:
        end = next(line for line in transcript.headers if line.name == "@End")
        if transcript.blocks[-1] is not end:
            yield Problem(transcript.path, end.number, 1, "after-end", "nothing may follow @End")


def _speakers(transcript: Transcript) -> Iterator[Problem]:
    participants = (transcript.header("@Participants") or "").split(",")
    roles = {entry.split()[0]: entry.split()[-1] for entry in participants if entry.split()}
    described = set()
    for line in transcript.headers:
        if line.name == "@ID":
            fields = [part.strip() for part in line.value.split("|")]
            described.add(fields[2] if len(fields) > 2 else "")
            if len(fields) != 11:
                message = f"@ID has {len(fields) - 1} pipes, not 10"
                yield Problem(transcript.path, line.number, 1, "id-fields", message)
            elif not _AGE.fullmatch(fields[3]):  # 34
                message = f"the age {fields[3]!r} must read like 4;11.03"
                yield Problem(transcript.path, line.number, 1, "age", message)
    for code, role in roles.items():
        if code not in described:
            yield Problem(transcript.path, 1, 1, "missing-id", f"participant {code} has no @ID")
        if role not in PARTICIPANT_ROLES:  # 15
            yield Problem(transcript.path, 1, 1, "role", f"participant {code} has an unknown role {role!r}")
    for utterance in transcript.utterances:
        if utterance.speaker not in roles:  # 18
            message = f"*{utterance.speaker} is not in @Participants"
            yield Problem(transcript.path, utterance.line or 1, 1, "speaker", message)


def _media(transcript: Transcript) -> Iterator[Problem]:
    line = next((line for line in transcript.headers if line.name == "@Media"), None)
    timed = any(utterance.span for utterance in transcript.utterances)
    if line is None:
        if timed:  # 112
            yield Problem(transcript.path, 1, 1, "no-media", "bullets need an @Media header")
        return
    if timed and re.search(r"\b(?:unlinked|notrans)\b", line.value):  # 124
        yield Problem(transcript.path, line.number, 1, "media-unlinked", "@Media says there are no bullets")
    name = transcript.media or ""
    if not re.fullmatch(r"\S.*,\s*(?:audio|video|missing)\b.*", line.value):
        yield Problem(transcript.path, line.number, 1, "media-kind", "@Media must read 'name, audio' or 'name, video'")
    if transcript.path and "://" not in name and name.lower() != Path(transcript.path).stem.lower():  # 157
        yield Problem(transcript.path, line.number, 1, "media-name", f"@Media names {name!r}, not this file")


def _times(transcript: Transcript) -> Iterator[Problem]:
    last_start = 0
    last_end: dict[str, int] = {}
    for utterance in transcript.utterances:
        span = utterance.span
        if span is None:
            continue
        place = (transcript.path, *_bullet_place(utterance))
        if span.duration_ms <= 0:  # 82
            yield Problem(*place, "empty-bullet", f"the bullet {span.start_ms}_{span.end_ms} has no duration")
        if span.start_ms < last_start:  # 83
            yield Problem(*place, "bullet-order", f"begins at {span.start_ms} ms, before the utterance above it")
        if span.start_ms < last_end.get(utterance.speaker, 0):  # 133
            message = f"begins at {span.start_ms} ms, before *{utterance.speaker} has ended its last utterance"
            yield Problem(*place, "bullet-overlap", message)
        last_start = max(last_start, span.start_ms)
        last_end[utterance.speaker] = max(last_end.get(utterance.speaker, 0), span.end_ms)
        yield from _word_times(transcript, utterance)


def _word_times(transcript: Transcript, utterance: Utterance) -> Iterator[Problem]:
    last = 0
    for word, span in utterance.word_times:
        if span.start_ms < last or span.duration_ms < 0:
            line = next((tier.number for tier in utterance.tiers if tier.name == "%wor"), 0) or utterance.line or 1
            yield Problem(transcript.path, line, 1, "word-order", f"%wor: {word!r} is out of order in time")
        last = span.start_ms


def _bullet_place(utterance: Utterance) -> tuple[int, int]:
    return utterance.place(max(utterance.body.find("\x15"), 0))
