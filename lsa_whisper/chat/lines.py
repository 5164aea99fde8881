"""Lines as read, and problems with their position."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsa_whisper.chat.cached_attribute import cached_attribute

FOLD = re.compile(r"\s+")
_END_OF_NAME = re.compile(r"[:\r\n\t]")


@dataclass(frozen=True)
class Problem:
    """A violation of CHAT's rules at a 1-based line and column."""

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
    """A logical line other than a main tier; ``raw`` is its text with continuation lines and line end."""

    raw: str
    number: int

    @cached_attribute
    def name(self) -> str:
        """The name, such as ``@Languages`` or ``%wor``; empty if the line is no header or dependent tier."""
        text = self.raw.lstrip("\ufeff")
        if text[:1] not in ("@", "%"):
            return ""
        return _END_OF_NAME.split(text, maxsplit=1)[0].strip()

    @cached_attribute
    def value(self) -> str:
        """The text after the name, with continuation lines joined by spaces."""
        _, _, rest = self.raw.partition(":")
        return FOLD.sub(" ", rest).strip()
