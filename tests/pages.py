"""The parts of README and of the pages under docs/: code blocks with their marks, and sections of prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))

_BLOCK = re.compile(
    r"(?:^[ ]*<!--\s*(?P<mark>[^\n]*?)\s*-->\n)?^(?P<indent>[ ]*)```(?P<language>\w*)[^\n]*\n"
    r"(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its position, its language, its text, and the comment on the line above it."""

    page: str
    line: int
    language: str
    code: str
    mark: str

    @property
    def commands(self) -> list[str]:
        """Its lines that are commands, continued ones as one."""
        return [line for line in self.code.replace("\\\n", " ").splitlines() if line.strip()]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def text_of(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text("utf-8")


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    text = text_of(page)
    for found in _BLOCK.finditer(text):
        indent, line = found["indent"], text.count("\n", 0, found.start("indent")) + 1
        code = "".join(each.removeprefix(indent) for each in found["code"].splitlines(keepends=True))
        yield Block(page, line, found["language"], code, found["mark"] or "")


def sections(page: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield heading, prose (without code blocks) and comments of each section of a page."""
    parts = _HEADING.split(_BLOCK.sub("", text_of(page)))
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        yield heading, _COMMENT.sub("", body), _COMMENT.findall(body)
