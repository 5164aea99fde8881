"""Transcripts: header lines and utterances in order, with their original text, and the participants they name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lsa_whisper.chat.cached_attribute import cached_attribute
from lsa_whisper.chat.codes import WITHOUT_BULLETS
from lsa_whisper.chat.fluency import Fluency, count_disfluencies
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import Utterance

ID_FIELDS = ("language", "corpus", "code", "age", "sex", "group", "ses", "role", "education", "custom")
"""The fields of a :class:`Participant` in the order of ``@ID``."""

_MEDIA_NAME = re.compile(r'\s*(?:"([^"]*)"|([^,]*))')


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
    people: dict[str, Participant] = {}
    lines = list(headers)
    for line in lines:
        if line.name == "@Participants":
            for entry in line.value.split(","):
                match entry.split():
                    case [code, *name, role]:
                        people[code] = Participant(code, role, " ".join(name))
                    case [code]:
                        people[code] = Participant(code, "")
    for line in lines:
        if line.name == "@ID":
            person = _described(line.value, people)
            people[person.code] = person
    return people


def _described(value: str, people: dict[str, Participant]) -> Participant:
    fields = dict(zip(ID_FIELDS, [*(part.strip() for part in value.split("|")), *[""] * 10], strict=False))
    person = people.get(fields["code"], Participant(fields["code"], fields["role"]))
    return replace(person, **fields | {"role": fields["role"] or person.role})


@dataclass
class Transcript:
    """A CHAT transcript: its ``blocks`` in order, and the ``path`` and ``encoding`` of its file."""

    blocks: list[Line | Utterance]
    path: str | None = None
    encoding: str = "utf-8"
    found: list[Problem] = field(default_factory=list)

    @cached_attribute
    def utterances(self) -> list[Utterance]:
        """The main tiers in order."""
        return [block for block in self.blocks if isinstance(block, Utterance)]

    @cached_attribute
    def headers(self) -> list[Line]:
        """The header lines in order."""
        return [block for block in self.blocks if isinstance(block, Line) and block.name.startswith("@")]

    def header(self, name: str) -> str | None:
        """Return the value of the first header called ``name`` (``"@Media"``), or ``None``."""
        return next((line.value for line in self.headers if line.name == name), None)

    @cached_attribute
    def languages(self) -> list[str]:
        """The language codes of ``@Languages``."""
        return re.findall(r"[^\s,]+", self.header("@Languages") or "")

    @cached_attribute
    def media(self) -> str | None:
        """The media name in ``@Media``, without quotes; ``None`` without one."""
        match = _MEDIA_NAME.match(self.header("@Media") or "")
        return (match[1] or match[2] or "").strip() or None if match else None

    def with_utterances(self, utterances: Iterable[Utterance]) -> Transcript:
        """Return the transcript with other utterances, in order, in the places of its own."""
        new = iter(utterances)
        return replace(self, blocks=[block if isinstance(block, Line) else next(new) for block in self.blocks])

    def linked(self) -> Transcript:
        r"""Return the transcript for utterances with bullets: ``@Media`` does not say that there are none.

        >>> from lsa_whisper.chat import parse
        >>> parse("@Media:\tvisit, audio, unlinked").linked().blocks[0].raw
        '@Media:\tvisit, audio'
        """
        blocks = [
            replace(block, raw=WITHOUT_BULLETS.sub("", block.raw))
            if isinstance(block, Line) and block.name == "@Media"
            else block
            for block in self.blocks
        ]
        return self if blocks == self.blocks else replace(self, blocks=blocks)

    @cached_attribute
    def participants(self) -> dict[str, Participant]:
        """The participants by code, from ``@Participants`` and ``@ID``."""
        return participants(self.headers)

    @cached_attribute
    def problems(self) -> list[Problem]:
        """The syntax problems in order of position; parses every main tier."""
        inside = (
            Problem(self.path, *utterance.place(fault.offset), fault.code, fault.message)
            for utterance in self.utterances
            for fault in utterance.tree.faults
        )
        return sorted([*self.found, *inside], key=lambda problem: (problem.line, problem.column))

    def fluency(self, mode: str = "strict") -> dict[str, Fluency]:
        r"""Return FluCalc's counts and rates per speaker; ``mode`` is ``strict`` or ``flucalc`` (as in CLAN).

        >>> from lsa_whisper.chat import parse
        >>> parse("*PAR:\t&-um I [/] I s:ee .").fluency()["PAR"].sld
        2
        """
        return count_disfluencies(self.utterances, languages=self.languages, mode=mode)
