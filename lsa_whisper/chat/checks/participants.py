"""Checks of ``@Participants``, ``@ID`` and the speakers of the main tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsa_whisper.chat import codes
from lsa_whisper.chat.checks.context import value_place
from lsa_whisper.chat.lines import Problem
from lsa_whisper.chat.model import Transcript

_FIELDS = 10
_PADDED_AGE = re.compile(r"\d{1,3};\d{1,2}\.\d{0,2}")
_Part = tuple[str, str, str]
"""Code of the rule, the text that breaks it, and the message."""


def participant_problems(transcript: Transcript) -> Iterator[Problem]:
    """Yield the problems of participants, their descriptions, and the speakers of the utterances."""
    roles: dict[str, str] = {}
    lines = [line for line in transcript.headers if line.name in ("@Participants", "@ID")]
    for line in lines:
        if line.name == "@Participants":
            for code, text, message in _entries(line.value, roles):
                yield Problem(transcript.path, *value_place(line, text), code, message)
    described: set[str] = set()
    for line in lines:
        if line.name == "@ID":
            for code, text, message in _description(line.value, roles, described, transcript.languages):
                yield Problem(transcript.path, *value_place(line, text), code, message)
    for speaker in roles:
        if speaker not in described:
            named = (value_place(line, speaker) for line in lines if line.name == "@Participants")
            message = f"participant {speaker} has no @ID"
            yield Problem(transcript.path, *next(named, (1, 1)), "missing-id", message)
    for utterance in transcript.utterances:
        if any(speaker not in roles for speaker in _speakers(utterance.speaker, roles)):
            message = f"*{utterance.speaker} is not in @Participants"
            yield Problem(transcript.path, utterance.line or 1, 1, "speaker", message)


def _speakers(code: str, roles: dict[str, str]) -> list[str]:
    """Return the speakers of a main tier: CHI and MOT of ``*CHI+MOT``, who say it together."""
    return [code] if code in roles else code.split("+")


def _entries(value: str, roles: dict[str, str]) -> Iterator[_Part]:
    for entry in value.split(","):
        words = entry.split()
        if not words:
            yield "participants-comma", "", "@Participants has a comma without a participant"
            continue
        code, role = words[0], words[-1]
        if not 2 <= len(words) <= 3:
            yield "participant", code, f"{' '.join(words)!r} is not code, name and role"
        elif fault := role_fault(role):
            yield "role", role, f"participant {code} has {fault}"
        if fault := speaker_code_fault(code):
            yield "speaker-code", code, fault
        if code in roles:
            yield "second-participant", code, f"@Participants has {code} twice"
        roles[code] = role


def role_fault(role: str) -> str | None:
    """Return why ``role`` is not one of CHAT's, with the most similar one; ``None`` if it is.

    >>> role_fault("target_child"), role_fault("Mother")
    ("an unknown role 'target_child' (Target_Child?)", None)
    """
    if role in codes.PARTICIPANT_ROLES:
        return None
    similar = [name for name in sorted(codes.PARTICIPANT_ROLES) if name.lower() == role.lower()]
    return f"an unknown role {role!r}" + (f" ({similar[0]}?)" if similar else "")


def speaker_code_fault(code: str) -> str | None:
    """Return why ``code`` cannot be a speaker code; ``None`` if it can.

    >>> speaker_code_fault("CHI"), speaker_code_fault("toolongcode")
    (None, "the speaker code 'toolongcode' has more than 8 characters")
    """
    if len(code) > codes.MAX_SPEAKER_CODE:
        return f"the speaker code {code!r} has more than {codes.MAX_SPEAKER_CODE} characters"
    if not codes.SPEAKER_CODE.fullmatch(code):
        return f"the speaker code {code!r} has other characters than letters and digits"
    return None


def _description(value: str, roles: dict[str, str], described: set[str], languages: list[str]) -> Iterator[_Part]:
    fields = [part.strip() for part in value.split("|")]
    code = fields[2] if len(fields) > 2 else ""
    if code in described:
        yield "second-id", code, f"a second @ID for {code}"
    described.add(code)
    if len(fields) != _FIELDS + 1 or fields[_FIELDS]:
        yield "id-fields", "", f"@ID has {len(fields) - 1} fields that end in |, not {_FIELDS}"
        return
    language, corpus, _, age, sex, _, ses, role, _, _, _ = fields
    if code not in roles:
        yield "id-speaker", code, f"@ID describes {code!r}, which is not in @Participants"
    elif role != roles[code]:
        yield "role-mismatch", role, f"@ID gives {code} the role {role!r}, @Participants {roles[code]!r}"
    for part in re.split(r"\s*,\s*", language):
        if part not in languages:
            yield "id-language", part, f"the language {part!r} of @ID is not in @Languages"
    if not corpus:
        yield "corpus", "", f"@ID of {code} names no corpus"
    if age and _PADDED_AGE.fullmatch(age) and not is_age(age) and is_age(_padded(age)):
        yield "age-zero", age, f"the age {age!r} is not like 4;11.03"
    elif age and not is_age(age):
        yield "age", age, f"the age {age!r} is not like 4;11.03"
    if sex and sex not in codes.SEXES:
        yield "sex", sex, f"the sex {sex!r} is neither female nor male"
    if ses and not _is_ses(ses):
        yield "ses", ses, f"{ses!r} is not an ethnicity or SES of CHAT"


def _padded(age: str) -> str:
    return re.sub(r"(?<=[;.])(\d)(?=\.|\Z)", r"0\1", age)


def is_age(text: str) -> bool:
    """Return whether ``text`` is an age as CHAT writes it.

    >>> [is_age(text) for text in ("4;11.03", "4;11.", "4;", "1;8.", "4;13.", "4")]
    [True, True, True, False, False, False]
    """
    match = codes.AGE.fullmatch(text)
    return match is not None and int(match[1] or 0) <= 12 and int(match[2] or 0) <= 31


def _is_ses(text: str) -> bool:
    parts = text.replace(",", " ").split()
    return len(parts) <= 2 and all(part in codes.SES_VALUES or part in codes.ETHNICITIES for part in parts)
