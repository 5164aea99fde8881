"""The scheduler: which worker gets which task, and what happens when a task fails or its worker dies.

A worker has one task at a time, so that it is known which task it had when it dies. That task is tried once more, by a
fresh worker. Each task has exactly one outcome. The workers are those of any :class:`WorkerPool`: processes of this
machine, or actors of a Ray cluster, which ``transcribe`` can use.
"""

from __future__ import annotations

import pickle
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from lsa_whisper.errors import LsaWhisperError

ItemT = TypeVar("ItemT")
ItemContraT = TypeVar("ItemContraT", contravariant=True)
ResultT = TypeVar("ResultT")
ResultCoT = TypeVar("ResultCoT", covariant=True)

EXPECTED_ERRORS = (LsaWhisperError, OSError, RuntimeError)
"""Errors that bad input, a full disk or a library can cause; any other exception is a defect of this package."""

_TRIES = 2

Report: TypeAlias = Callable[[float], None]
"""Called by a worker with the amount of its task that is done, for example in seconds of audio."""


class WorkerFunction(Protocol[ItemContraT, ResultCoT]):
    """What a worker calls for each task. It is pickled, so it must be a function or class of a module."""

    def __call__(self, item: ItemContraT, report: Report, /) -> ResultCoT:
        """Return the result for ``item``."""


@dataclass(frozen=True)
class TaskResult(Generic[ResultT]):
    """A task that has finished."""

    result: ResultT
    took_s: float = 0.0


@dataclass(frozen=True)
class TaskError:
    """A task that has failed.

    ``error`` is what the worker function raised, or a :class:`WorkerDiedError`.
    """

    error: Exception
    took_s: float = 0.0


@dataclass(frozen=True)
class WorkerDied:
    """A worker that ended before its task did, and why."""

    reason: str


class WorkerDiedError(LsaWhisperError):
    """Every worker that had this task died."""


WorkerEvent: TypeAlias = float | TaskResult[ResultT] | TaskError | WorkerDied
"""News of a worker: the amount of its task that is done, or how the task or the worker ended."""


class WorkerPool(Protocol[ItemContraT, ResultT]):
    """A source of workers; a worker is any hashable object."""

    def start_worker(self) -> Any:
        """Return a fresh worker."""

    def submit(self, worker: Any, item: ItemContraT) -> None:
        """Give a task to an idle worker."""

    def wait(self) -> list[tuple[Any, WorkerEvent[ResultT]]]:
        """Return the next events; block until there is one."""

    def stop_worker(self, worker: Any) -> None:
        """End an idle worker."""


def run_task(function: WorkerFunction[ItemT, ResultT], item: ItemT, report: Report) -> TaskResult[ResultT] | TaskError:
    """Return the outcome of one task, in a worker. No exception escapes; an unexpected one is printed in full."""
    began = time.monotonic()
    try:
        return TaskResult(function(item, report), time.monotonic() - began)
    except Exception as error:
        if not isinstance(error, EXPECTED_ERRORS):
            traceback.print_exc()
        return TaskError(_picklable(error), time.monotonic() - began)


def run_tasks(
    tasks: Mapping[int, ItemT],
    pool: WorkerPool[ItemT, ResultT],
    workers: int,
    report: Callable[[int, float], None] = lambda number, done: None,
    *,
    cost: Callable[[ItemT], float] = lambda item: 0.0,
    fatal: tuple[type[Exception], ...] = (),
) -> Generator[tuple[int, TaskResult[ResultT] | TaskError], None, None]:
    """Yield the outcome of every task under its number, in the order in which the tasks end.

    Args:
        tasks: The items, by number.
        pool: Where the workers come from.
        workers: How many tasks run at once.
        report: Called with the number of a task and the amount of it that is done.
        cost: How long a task takes, in any unit. The longest start first, so that the run does not end with one long
            task on one worker; tasks of equal cost start in order.
        fatal: Errors that end the run.

    Raises:
        Exception: An error in ``fatal``.
    """
    waiting = deque(sorted(tasks, key=lambda number: (-cost(tasks[number]), number)))
    deaths: Counter[int] = Counter()
    busy: dict[Any, int] = {}

    def start(worker: Any) -> None:
        busy[worker] = waiting.popleft()
        pool.submit(worker, tasks[busy[worker]])

    for _ in range(min(workers, len(tasks))):
        start(pool.start_worker())
    while busy:
        for worker, event in pool.wait():
            if isinstance(event, float):
                report(busy[worker], event)
                continue
            number = busy.pop(worker)
            if died := isinstance(event, WorkerDied):
                deaths[number] += 1
                if deaths[number] < _TRIES:
                    waiting.appendleft(number)
                    start(pool.start_worker())
                    continue
                event = TaskError(WorkerDiedError(event.reason))
            if isinstance(event, TaskError) and isinstance(event.error, fatal):
                raise event.error
            if waiting:
                start(pool.start_worker() if died else worker)
            elif not died:
                pool.stop_worker(worker)
            yield number, event


def _picklable(error: Exception) -> Exception:
    """Return ``error``, or one with the same message where it does not survive the way to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        kind = LsaWhisperError if isinstance(error, LsaWhisperError) else RuntimeError
        return kind(str(error))
    return error
