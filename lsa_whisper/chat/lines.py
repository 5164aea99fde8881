"""Lines as read, and problems with their position."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsa_whisper.chat.cached_attribute import cached_attribute
from lsa_whisper.chat.rules import RULES

FOLD = re.compile(r"\s+")
_END_OF_NAME = re.compile(r"[:\r\n\t]")
_NEWLINE = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Problem:
    """A violation of CHAT's rules at a 1-based line and column; ``code`` is a key of :data:`.RULES`."""

    path: str | None
    line: int
    column: int
    code: str
    message: str

    def __str__(self) -> str:
        place = f"{self.line}:{self.column}"
        if not self.path:
            return f"{place}: {self.message}"
        number = f", CHECK {self.check_number}" if self.check_number else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        kind = ", remark" if self.is_remark else ""
        return f"{self.path}:{place}: {self.message}{remedy} [{self.code}{number}{kind}]"

    @property
    def check_number(self) -> int | None:
        """The error number of CLAN's CHECK for the same rule, if it has one."""
        return RULES[self.code].check_number if self.code in RULES else None

    @property
    def is_remark(self) -> bool:
        """Whether CLAN's CHECK accepts it: no error, but worth knowing."""
        return self.code in RULES and RULES[self.code].remark

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return RULES[self.code].remedy if self.code in RULES else ""


@dataclass(frozen=True)
class Line:
    """A logical line other than a main tier; ``raw`` is its text with continuation lines and line end."""

    raw: str
    number: int

    @cached_attribute
    def name(self) -> str:
        """The name, such as ``@Languages`` or ``%wor``; empty if the line is not a header or dependent tier."""
        text = self.raw.lstrip("\ufeff")
        if text[:1] not in ("@", "%"):
            return ""
        return _END_OF_NAME.split(text, maxsplit=1)[0].strip()

    @cached_attribute
    def value(self) -> str:
        """The text after the name, with continuation lines joined by spaces."""
        _, _, rest = self.raw.partition(":")
        return FOLD.sub(" ", rest).strip()

    def place(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of the character at ``offset`` of :attr:`raw`."""
        before = [match.end() for match in _NEWLINE.finditer(self.raw, 0, offset)]
        return self.number + len(before), offset - (before[-1] if before else 0) + 1
