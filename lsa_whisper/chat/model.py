"""Transcripts: header lines and utterances in order, with their original text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lsa_whisper.chat.cached_attribute import cached_attribute
from lsa_whisper.chat.fluency import Fluency, count_disfluencies
from lsa_whisper.chat.headers import Participant, participants
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import Utterance


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
        value = self.header("@Media")
        return (value.split(",")[0].strip().strip('"') or None) if value else None

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
