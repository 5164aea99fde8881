"""The record of one case: a JSON file that is rewritten as soon as a figure is known, so that none is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lsa_whisper.system.atomic_write import write_atomic

DONE, FAILED, INTERRUPTED, RUNNING = "done", "failed", "interrupted", "running"


class Record:
    """The figures of a case, in memory and in ``path``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Record(Path(folder) / "case.json").add("batch 1", {"samples_per_s": 2.0})
    ...     Record(Path(folder) / "case.json").figures
    {'batch 1': {'samples_per_s': 2.0}}
    """

    def __init__(self, path: Path):
        """Open the record at ``path``, empty if there is none."""
        self.path = path
        self.figures: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}

    def start(self, **figures: Any) -> None:
        """Drop what is there and begin with ``figures``."""
        self.figures = figures
        self._write()

    def add(self, name: str, value: Any) -> None:
        """Add a figure and write the file; of two mappings of the same name, entries are merged."""
        before = self.figures.get(name)
        both = isinstance(before, dict) and isinstance(value, dict)
        self.figures[name] = before | value if both else value
        self._write()

    def not_run(self, what: str, why: str) -> None:
        """Note a part of the case that this machine cannot run, and why."""
        self.add("not_run", {what: why})

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(json.dumps(self.figures, indent=1, ensure_ascii=False) + "\n", self.path)
