"""Progress of a run: a bar with the remaining time on a terminal, lines in its place elsewhere, and a log for later."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import printable
from lsa_whisper.system import disk
from lsa_whisper.system.files import FailedFile
from lsa_whisper.system.own_files import append_own
from lsa_whisper.transcription.files.outcome import TranscribedFile

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

        The first update of a recording gives what an earlier run did, which does not count for the speed. ``number``
        identifies it among those that run in parallel.
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
        rest = f", about {timedelta(seconds=round(left_s))} left" if left_s else ""
        print(f"{printable(name)}: {self.done_s():.0f} of {self._total_s:.0f} s of audio done{rest}", file=sys.stderr)


class _Bar(ProgressMeter):
    def __init__(self, total_s: float, progress: Progress, task: TaskID):
        super().__init__(total_s)
        self._progress, self._task = progress, task

    def update(self, seconds: float, number: int = 0) -> None:
        self._running_s[number] = seconds
        self._progress.update(self._task, completed=self.done_s())

    def _print(self, name: str) -> None:
        from rich.markup import escape

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


LOG_COLUMNS = ("finished", "outcome", "recording", "sound_s", "took_s", "utterances", "words", "note")


class RunLog:
    """Tab-separated lines, each written as soon as its recording has ended; without a path, nothing is written."""

    def __init__(self, path: Path | None):
        """Open the log at ``path`` to append to it.

        Raises:
            LsaWhisperError: It cannot be written.
        """
        self._path = path
        if path is None:
            return
        with disk.convert_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            append_own(path, b"")
            empty = path.stat().st_size == 0
        if empty:
            self._append(LOG_COLUMNS)

    def outcome(self, file: TranscribedFile | FailedFile, duration_s: float) -> None:
        """Add the line of a recording of ``duration_s`` seconds."""
        if isinstance(file, FailedFile):
            outcome, path, counts, note = "failed", file.path, (0, 0), file.reason
        else:
            outcome, path, counts, note = "kept" if file.skipped else "done", file.audio, file.counts, _note(file)
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        values = (now, outcome, path, f"{duration_s:.1f}", f"{file.took_s:.1f}", *counts, note)
        self._append([" ".join(str(value).split()) for value in values])

    def _append(self, values: Iterable[str]) -> None:
        """Add a line at once, completely or not at all."""
        if self._path is None:
            return
        line = ("\t".join(values) + "\n").encode("utf-8", "backslashreplace")
        with disk.convert_disk_errors(self._path):
            append_own(self._path, line)


def _note(file: TranscribedFile) -> str:
    """Return the remarks, and what the decoder said: each line once, with the number of the others."""
    messages = list(dict.fromkeys(file.messages))
    more = f" and {len(messages) - 3} more" if len(messages) > 3 else ""
    return "; ".join(
        part for part in (file.note, f"the decoder said: {', '.join(messages[:3])}{more}" if messages else "") if part
    )
