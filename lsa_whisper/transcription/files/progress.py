"""Progress of a run: a bar with the remaining time on a terminal, one line for each recording in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from lsa_whisper.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PRINT_EVERY_S = 60.0  # so that the log of a long recording shows that the run is alive


class ProgressMeter:
    """Adds up the seconds of audio that are decoded, over all recordings of a run, and prints lines about them."""

    def __init__(self, total_s: float, clock: Callable[[], float] = time.monotonic):
        """Measure progress towards ``total_s`` seconds of audio; ``clock`` returns seconds and gives the speed."""
        self._total_s, self._ended_s = total_s, 0.0
        self._clock, self._started, self._printed = clock, clock(), clock()
        self._decoded_s = 0.0
        self._running_s: dict[int, float] = {}

    def update(self, seconds: float, number: int = 0) -> None:
        """Set how many seconds of a recording are done.

        The first update of a recording gives what an earlier run did, which does not count for the speed.

        Args:
            seconds: decoded audio.
            number: identifies the recording among those that run in parallel.
        """
        if number in self._running_s:
            self._decoded_s += seconds - self._running_s[number]
        self._running_s[number] = seconds
        if self._clock() - self._printed >= _PRINT_EVERY_S:
            self._print("in progress")

    def finish(self, name: str, duration_s: float, number: int = 0) -> None:
        """Count a recording of ``duration_s`` seconds as ended, with or without a transcript."""
        self._ended_s += duration_s
        self._running_s.pop(number, None)
        self._print(name)

    def done_s(self) -> float:
        """Return the seconds of audio that are done."""
        return self._ended_s + sum(self._running_s.values())

    def left_s(self) -> float | None:
        """Return how long the rest will take at the speed so far; ``None`` before anything was decoded."""
        if self._decoded_s <= 0:
            return None
        return max(0.0, self._total_s - self.done_s()) * (self._clock() - self._started) / self._decoded_s

    def _print(self, name: str) -> None:
        self._printed, left_s = self._clock(), self.left_s()
        left = f", about {timedelta(seconds=round(left_s))} left" if left_s else ""
        print(f"{printable(name)}: {self.done_s():.0f} of {self._total_s:.0f} s of audio done{left}", file=sys.stderr)


class _Bar(ProgressMeter):
    def __init__(self, total_s: float, progress: Progress, task: TaskID):
        super().__init__(total_s)
        self._progress, self._task = progress, task

    def update(self, seconds: float, number: int = 0) -> None:
        self._running_s[number] = seconds
        self._progress.update(self._task, completed=self.done_s())

    def finish(self, name: str, duration_s: float, number: int = 0) -> None:
        from rich.markup import escape

        self._ended_s += duration_s
        self._running_s.pop(number, None)
        self._progress.update(self._task, completed=self.done_s(), description=escape(printable(name)))


@contextmanager
def progress_meter(total_s: float) -> Iterator[ProgressMeter]:
    """Give a meter for a run over ``total_s`` seconds of audio."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield ProgressMeter(total_s)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(total_s, progress, progress.add_task("transcribe", total=total_s))
