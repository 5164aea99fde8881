"""Workers that are processes of this machine: one for each GPU, or several that share the cores.

They are started afresh (``spawn``), because a copy of a process that has loaded torch may hang. Each hears of its work
through a pipe of its own, and ends when that closes: so it ends with this process, however this one ends.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from lsa_whisper.transcribe.workers.scheduler import Task, Work, WorkerDied, WorkerEvent, run_task


@dataclass(frozen=True, eq=False)
class _Worker:
    process: Any
    pipe: Connection
    place: int


class ProcessPool:
    """A pool of processes; the places (devices) of those that died are taken by those that follow."""

    def __init__(self, works: Sequence[Work]):
        """Take one ``work`` for each process that shall run at once; they may differ in the device they use."""
        self._works, self._free = works, list(range(len(works)))[::-1]
        self._busy: list[_Worker] = []

    def start_worker(self) -> _Worker:
        """Return a fresh process."""
        context, place = multiprocessing.get_context("spawn"), self._free.pop()
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._works[place], len(self._works)), daemon=True)
        process.start()
        theirs.close()  # or the pipe would not be at its end when the process is
        return _Worker(process, ours, place)

    def submit(self, worker: _Worker, task: Task) -> None:
        """Send a task."""
        self._busy.append(worker)
        with suppress(OSError):  # it has died already, and ``wait`` will see that
            worker.pipe.send(task)

    def wait(self) -> list[tuple[_Worker, WorkerEvent]]:
        """Return what the processes sent; one whose pipe has ended has died."""
        ready = wait([worker.pipe for worker in self._busy])
        heard = []
        for worker in [each for each in self._busy if each.pipe in ready]:
            try:
                news = worker.pipe.recv()
            except (EOFError, OSError):
                worker.process.join()
                news = WorkerDied(_cause(worker.process.exitcode))
                self._free.append(worker.place)
            if not isinstance(news, float):
                self._busy.remove(worker)
            heard.append((worker, news))
        return heard

    def stop_worker(self, worker: _Worker) -> None:
        """Close a process's pipe, at which it ends."""
        worker.pipe.close()
        self._free.append(worker.place)

    def close(self) -> None:
        """End the processes that are still at work."""
        for worker in self._busy:
            worker.process.terminate()
            worker.process.join()


@contextmanager
def processes(works: Sequence[Work]) -> Iterator[ProcessPool]:
    """Give a pool whose processes end with the block."""
    pool = ProcessPool(works)
    try:
        yield pool
    finally:
        pool.close()


def _cause(exit_code: int | None) -> str:
    """Return why a process ended.

    >>> _cause(-9), _cause(1)
    ('killed by SIGKILL: often for want of memory', 'exit code 1')
    """
    if exit_code is None or exit_code >= 0:
        return f"exit code {exit_code}"
    name = signal.Signals(-exit_code).name if -exit_code in set(signal.Signals) else f"signal {-exit_code}"
    return f"killed by {name}" + (": often for want of memory" if name == "SIGKILL" else "")


def _serve(pipe: Connection, work: Work, siblings: int) -> None:
    """Be a worker: read tasks, send what becomes of them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is told by the process that started this one
    # Torch would take every core for each of the processes; it reads this when it is imported, which is later.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // siblings)))
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(pipe, tasks), daemon=True).start()
    while True:
        pipe.send(run_task(work, tasks.get(), lambda seconds: pipe.send(float(seconds))))


def _read(pipe: Connection, tasks: queue.SimpleQueue[Task]) -> None:
    try:
        while True:
            tasks.put(pipe.recv())
    finally:
        os._exit(0)  # the pipe has ended: no more work, or nobody to do it for
