"""Recordings distributed over several workers, longest first, so that the run does not end with one long recording.

A :class:`WorkerPool` starts the workers (processes of this machine, actors of a Ray cluster). Every pool gives the same
guarantees: a worker has one recording at a time, so that it is known which one it was when it dies; that recording is
tried once more, by a fresh worker; and each recording has exactly one outcome.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from lsa_whisper.audio import Recording
from lsa_whisper.errors import CheckpointError, DiskError, LsaWhisperError
from lsa_whisper.transcribe.files.outcome import FailedFile, TranscribedFile

_TRIES = 2

Work = Callable[[Recording, Path, Callable[[float], None]], TranscribedFile]
"""Writes the transcript of a recording to a path, and tells the seconds that are done. Other processes must find it."""


@dataclass(frozen=True)
class Task:
    """A recording and the place of its transcript."""

    recording: Recording
    target: Path


@dataclass(frozen=True)
class WorkerDied:
    """A worker has ended with its recording unfinished."""

    reason: str


@dataclass(frozen=True)
class FatalError:
    """A worker found that no recording can be done: the model cannot be loaded, or the disk is full."""

    error: CheckpointError | DiskError


WorkerEvent = float | TranscribedFile | FailedFile | WorkerDied | FatalError
"""What is heard of a worker: seconds of its recording that are done, or how it ended."""


class WorkerPool(Protocol):
    """Where workers come from."""

    def start_worker(self) -> Any:
        """Return a fresh worker."""
        ...

    def submit(self, worker: Any, task: Task) -> None:
        """Let a worker that has nothing to do begin."""
        ...

    def wait(self) -> list[tuple[Any, WorkerEvent]]:
        """Return what is new, as soon as anything is."""
        ...

    def stop_worker(self, worker: Any) -> None:
        """Let a worker go that is not needed any more."""
        ...


def run_task(work: Work, task: Task, say: Callable[[float], None]) -> TranscribedFile | FailedFile | FatalError:
    """Return what became of a recording; what a user can cause is no exception here, so that any worker can tell it."""
    began = time.monotonic()
    try:
        return replace(work(task.recording, task.target, say), took_s=time.monotonic() - began)
    except (CheckpointError, DiskError) as error:
        return FatalError(error)
    except (LsaWhisperError, OSError, RuntimeError) as error:
        return FailedFile(task.recording.path, str(error), time.monotonic() - began)


def run_tasks(
    tasks: Mapping[int, Task], pool: WorkerPool, workers: int, say: Callable[[int, float], None]
) -> Iterator[tuple[int, TranscribedFile | FailedFile]]:
    """Yield the outcome of every task under the task's number, in the order in which they end.

    Args:
        tasks: what is to be done.
        pool: where workers come from.
        workers: how many work at once.
        say: told a task's number and how many seconds of it are done.

    Raises:
        CheckpointError: the model cannot be loaded.
        DiskError: the disk takes no transcripts.
    """
    waiting = deque(sorted(tasks, key=lambda number: (-tasks[number].recording.duration_s, number)))
    deaths: Counter[int] = Counter()
    busy: dict[Any, int] = {}

    def begin(worker: Any) -> None:
        busy[worker] = waiting.popleft()
        pool.submit(worker, tasks[busy[worker]])

    for _ in range(min(workers, len(tasks))):
        begin(pool.start_worker())
    while busy:
        for worker, news in pool.wait():
            number = busy[worker]
            if isinstance(news, float):
                say(number, news)
                continue
            del busy[worker]
            if isinstance(news, FatalError):
                pool.stop_worker(worker)
                raise news.error
            if not isinstance(news, WorkerDied):
                yield number, news
                begin(worker) if waiting else pool.stop_worker(worker)
                continue
            deaths[number] += 1
            if deaths[number] < _TRIES:
                waiting.appendleft(number)
            else:
                yield number, FailedFile(tasks[number].recording.path, _given_up(tasks[number], news))
            if waiting:
                begin(pool.start_worker())


def _given_up(task: Task, news: WorkerDied) -> str:
    return (
        f"{task.recording.path}: whoever worked on it died twice ({news.reason}); see if memory suffices (fewer "
        "processes, a smaller batch size), and convert the recording to wav or flac"
    )
