"""What ``convert`` wrote, and what it could not."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lsa_whisper.formats.convert.conservation import TranscriptCounts
from lsa_whisper.system.files import FailedFile, failure_exit_code
from lsa_whisper.system.terminal import TerminalTable, render_text

_LISTED = 20
_COUNTED = ("utterances", "words", "marks", "times")


@dataclass
class Converted:
    """The result of :func:`lsa_whisper.formats.convert.convert`.

    Attributes:
        out: The output folder.
        written: The files in it that are up to date now.
        failed_files: Files that could not be converted, and why.
        losses: What was lost, by file and kind, with the first place.
        notes: What a person should know, with the file.
        before: What the converted files held.
        after: What the written files hold.
    """

    out: Path
    written: list[Path] = field(default_factory=list)
    failed_files: list[FailedFile] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    before: TranscriptCounts = field(default_factory=TranscriptCounts)
    after: TranscriptCounts = field(default_factory=TranscriptCounts)

    @property
    def exit_code(self) -> int:
        """The number of files that could not be converted, at most 100."""
        return failure_exit_code(self.failed_files)

    def table(self) -> str:
        """Return counts, problems and notes to print."""
        rows = [["converted", str(len(self.written))], ["failed", str(len(self.failed_files))]]
        table = TerminalTable(f"Converted to {self.out}", ("files", ""), rows)
        held = [(name, getattr(self.before, name), getattr(self.after, name)) for name in _COUNTED]
        kept = TerminalTable(
            "Held", ("", "before", "after"), [[name, _cell(one), _cell(two)] for name, one, two in held]
        )
        failed = _first([each.reason for each in self.failed_files], "failed")
        return render_text(
            table, *([kept] if self.written else []), *failed, *_first(self.losses, "lost"), *_first(self.notes, "note")
        )


def _cell(count: int | None) -> str:
    return "" if count is None else str(count)


def _first(lines: list[str], what: str) -> list[str]:
    more = [f"{what}: and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return [f"{what}: {line}" for line in lines[:_LISTED]] + more
