"""What the headers say about the main tiers below them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsa_whisper.chat.lines import Line
from lsa_whisper.chat.model import Transcript


@dataclass(frozen=True)
class CheckContext:
    """The headers that decide which main tiers are valid.

    Attributes:
        conversation: Whether the transcript uses conversation analysis (``@Options: CA``).
        languages: The codes of ``@Languages``, the main language first.
        speakers: The codes of ``@Participants``.
    """

    conversation: bool = False
    languages: tuple[str, ...] = ()
    speakers: frozenset[str] = frozenset()


def context_of(transcript: Transcript) -> CheckContext:
    """Return the context that the headers of ``transcript`` give."""
    options = re.findall(r"[^\s,]+", transcript.header("@Options") or "")
    entries = (transcript.header("@Participants") or "").split(",")
    speakers = frozenset(entry.split()[0] for entry in entries if entry.split())
    return CheckContext(any(option.startswith("CA") for option in options), tuple(transcript.languages), speakers)


def value_place(line: Line, text: str) -> tuple[int, int]:
    """Return the line and column of ``text`` in the value of ``line``; of the line's start if it is not there."""
    at = line.raw.find(text, line.raw.find(":") + 1) if text else -1
    return line.place(max(at, 0))
