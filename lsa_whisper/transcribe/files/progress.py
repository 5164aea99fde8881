"""How far a run is: a bar with the remaining time on a terminal, a line per recording in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from lsa_whisper.errors import printable

_EVERY_S = 60.0  # a log of a long recording must not look as if nothing happened


class ProgressMeter:
    """Counts seconds of sound that are done, over all recordings of a run, and says so in lines."""

    def __init__(self, total_s: float, clock: Callable[[], float] = time.monotonic):
        """Count up to ``total_s``; the times of ``clock`` tell how long the rest will take."""
        self._total_s, self._before_s = total_s, 0.0
        self._clock, self._began, self._told = clock, clock(), clock()
        self._worked_s = 0.0
        self._running_s: dict[int, float] = {}

    def at(self, seconds: float, number: int = 0) -> None:
        """Take note that a recording is done up to ``seconds``; the first time, that it begins there.

        Its number tells those apart that run at once.
        """
        if number in self._running_s:
            self._worked_s += seconds - self._running_s[number]
        self._running_s[number] = seconds
        if self._clock() - self._told >= _EVERY_S:
            self._say("still at work")

    def finish(self, name: str, duration_s: float, number: int = 0) -> None:
        """Take note that a recording is done or given up."""
        self._before_s += duration_s
        self._running_s.pop(number, None)
        self._say(name)

    def done_s(self) -> float:
        """Return how many seconds of sound are done."""
        return self._before_s + sum(self._running_s.values())

    def left_s(self) -> float | None:
        """Return how many seconds the rest will take at the speed so far; ``None`` before anything was decoded."""
        if self._worked_s <= 0:
            return None
        return max(0.0, self._total_s - self.done_s()) * (self._clock() - self._began) / self._worked_s

    def _say(self, what: str) -> None:
        self._told, left_s = self._clock(), self.left_s()
        left = f", about {timedelta(seconds=round(left_s))} left" if left_s else ""
        print(f"{printable(what)}: {self.done_s():.0f} of {self._total_s:.0f} s of sound done{left}", file=sys.stderr)


class _Bar(ProgressMeter):
    def __init__(self, total_s: float, progress: Any, task: Any):
        super().__init__(total_s)
        self._progress, self._task = progress, task

    def at(self, seconds: float, number: int = 0) -> None:
        self._running_s[number] = seconds
        self._progress.update(self._task, completed=self.done_s())

    def finish(self, name: str, duration_s: float, number: int = 0) -> None:
        from rich.markup import escape

        self._before_s += duration_s
        self._running_s.pop(number, None)
        self._progress.update(self._task, completed=self.done_s(), description=escape(printable(name)))


@contextmanager
def progress_meter(total_s: float) -> Iterator[ProgressMeter]:
    """Give a meter for a run over ``total_s`` seconds of sound."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield ProgressMeter(total_s)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(total_s, progress, progress.add_task("transcribe", total=total_s))
