"""The two things every part of a transcript has: lines as they were read, and problems with their place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsa_whisper.chat.cached_attribute import cached_attribute

FOLD = re.compile(r"\s+")
_END_OF_NAME = re.compile(r"[:\r\n\t]")


@dataclass(frozen=True)
class Problem:
    """Something in a transcript that CHAT does not allow, at a 1-based line and column."""

    path: str | None
    line: int
    column: int
    code: str
    message: str

    def __str__(self) -> str:
        place = f"{self.line}:{self.column}"
        return f"{self.path}:{place}: {self.message} [{self.code}]" if self.path else f"{place}: {self.message}"


@dataclass(frozen=True)
class Line:
    """A logical line (with its continuation lines and its line end) that is no main tier; ``raw`` is its own text."""

    raw: str
    number: int

    @cached_attribute
    def name(self) -> str:
        """``@Languages``, ``%wor`` ...; empty for a line that is neither header nor dependent tier."""
        text = self.raw.lstrip("\ufeff")
        if text[:1] not in ("@", "%"):
            return ""
        return _END_OF_NAME.split(text, maxsplit=1)[0].strip()

    @cached_attribute
    def value(self) -> str:
        """What stands behind the name, continuation lines joined by single spaces."""
        _, _, rest = self.raw.partition(":")
        return FOLD.sub(" ", rest).strip()
