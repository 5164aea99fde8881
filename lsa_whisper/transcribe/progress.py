"""How far a run is: a bar with the remaining time on a terminal, a line per recording in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Meter:
    """Counts seconds of sound that are done, over all recordings of a run."""

    def __init__(self, total_s: float):
        self._total_s, self._before_s = total_s, 0.0

    def at(self, seconds: float, number: int = 0) -> None:
        """Take note that a recording is done up to ``seconds``; its number tells those apart that run at once."""

    def finish(self, name: str, duration_s: float, number: int = 0) -> None:
        """Take note that a recording is done or given up."""
        self._before_s += duration_s
        print(f"{name}: {self._before_s:.0f} of {self._total_s:.0f} s of sound done", file=sys.stderr)


class _Bar(Meter):
    def __init__(self, total_s: float, progress: Any, task: Any):
        super().__init__(total_s)
        self._progress, self._task = progress, task
        self._running_s: dict[int, float] = {}

    def at(self, seconds: float, number: int = 0) -> None:
        self._running_s[number] = seconds
        self._show()

    def finish(self, name: str, duration_s: float, number: int = 0) -> None:
        self._running_s.pop(number, None)
        self._before_s += duration_s
        self._show(description=name)

    def _show(self, **more: Any) -> None:
        self._progress.update(self._task, completed=self._before_s + sum(self._running_s.values()), **more)


@contextmanager
def meter(total_s: float) -> Iterator[Meter]:
    """Give a meter for a run over ``total_s`` seconds of sound."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Meter(total_s)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(total_s, progress, progress.add_task("transcribe", total=total_s))
