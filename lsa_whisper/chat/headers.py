"""Participants from the header lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lsa_whisper.chat.lines import Line


@dataclass(frozen=True)
class Participant:
    """A participant, described by ``@Participants`` and ``@ID``."""

    code: str
    role: str
    name: str = ""
    language: str = "eng"
    corpus: str = ""
    age: str = ""
    sex: str = ""
    group: str = ""
    ses: str = ""
    education: str = ""
    custom: str = ""


def participants(headers: Iterable[Line]) -> dict[str, Participant]:
    r"""Return the participants by code: ``@Participants`` names them, ``@ID`` describes them.

    >>> participants([Line("@Participants:\tCHI Ann Target_Child, MOT Mother\n", 1)])["CHI"].name
    'Ann'
    """
    found: dict[str, Participant] = {}
    lines = list(headers)
    for line in lines:
        if line.name == "@Participants":
            for entry in line.value.split(","):
                match entry.split():
                    case [code, *name, role]:
                        found[code] = Participant(code, role, " ".join(name))
                    case [code]:
                        found[code] = Participant(code, "")
    for line in lines:
        if line.name == "@ID":
            described = _described(line.value, found)
            found[described.code] = described
    return found


def _described(value: str, known: dict[str, Participant]) -> Participant:
    fields = [part.strip() for part in value.split("|")] + [""] * 10
    language, corpus, code, age, sex, group, ses, role, education, custom = fields[:10]
    person = known.get(code, Participant(code, role))
    return replace(
        person,
        role=role or person.role,
        language=language,
        corpus=corpus,
        age=age,
        sex=sex,
        group=group,
        ses=ses,
        education=education,
        custom=custom,
    )
