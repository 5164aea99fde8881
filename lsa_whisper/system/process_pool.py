"""Workers that are processes of this machine; :mod:`~lsa_whisper.system.task_scheduler` gives them tasks.

They are started afresh (``spawn``), because a copy of a process that has loaded torch may hang. Each worker has a pipe
of its own for tasks and events, and ends when that closes. The system closes it when the parent process ends, so no
worker outlives its parent, even one that was killed.

Own code on ``multiprocessing``, because the libraries for this do not give what the verbs need. When a worker of
``concurrent.futures.ProcessPoolExecutor`` or of loky dies, the whole executor breaks: all its tasks fail, and it does
not tell which task the worker had. Here a death costs one task, which is tried once more. Neither library gives each
worker arguments of its own (a GPU), and neither ends the workers when the parent is killed.
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
from multiprocessing.context import SpawnProcess
from typing import Any, Generic

from lsa_whisper.system.machine import usable_cores
from lsa_whisper.system.task_scheduler import ItemT, ResultT, WorkerDied, WorkerEvent, WorkerFunction, run_task


@dataclass(frozen=True, eq=False)
class _Worker:
    process: SpawnProcess
    pipe: Connection[Any, Any]
    place: int


class ProcessPool(Generic[ItemT, ResultT]):
    """A pool of processes. A process that is started after one that died takes over its function, and so its device."""

    def __init__(self, functions: Sequence[WorkerFunction[ItemT, ResultT]]):
        """Take one worker function for each process that may run at once; they may differ in the device they use."""
        self._functions, self._free = functions, list(range(len(functions)))[::-1]
        self._busy: list[_Worker] = []
        self._alive: set[_Worker] = set()

    def start_worker(self) -> _Worker:
        """Return a fresh process."""
        context, place = multiprocessing.get_context("spawn"), self._free.pop()
        ours, theirs = context.Pipe()
        arguments = (theirs, self._functions[place], len(self._functions))
        process = context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        theirs.close()  # or the pipe would not end when the process does
        worker = _Worker(process, ours, place)
        self._alive.add(worker)
        return worker

    def submit(self, worker: _Worker, item: ItemT) -> None:
        """Send a task."""
        self._busy.append(worker)
        with suppress(OSError):  # the process has died already; ``wait`` finds that out
            worker.pipe.send(item)

    def wait(self) -> list[tuple[_Worker, WorkerEvent[ResultT]]]:
        """Return what the processes sent; one whose pipe has ended has died."""
        ready = wait([worker.pipe for worker in self._busy])
        events = []
        for worker in [worker for worker in self._busy if worker.pipe in ready]:
            event: WorkerEvent[ResultT]
            try:
                event = worker.pipe.recv()
            except (EOFError, OSError):
                worker.process.join()
                event = WorkerDied(_cause(worker.process.exitcode))
                self._release(worker)
            if not isinstance(event, float):
                self._busy.remove(worker)
            events.append((worker, event))
        return events

    def stop_worker(self, worker: _Worker) -> None:
        """Close a process's pipe, at which it ends."""
        worker.pipe.close()
        self._release(worker)

    def close(self) -> None:
        """End the processes that are still alive."""
        for worker in self._alive:
            worker.process.terminate()
            worker.process.join()

    def _release(self, worker: _Worker) -> None:
        self._alive.remove(worker)
        self._free.append(worker.place)


@contextmanager
def process_pool(functions: Sequence[WorkerFunction[ItemT, ResultT]]) -> Iterator[ProcessPool[ItemT, ResultT]]:
    """Give a pool whose processes end with the block."""
    pool = ProcessPool(functions)
    try:
        yield pool
    finally:
        pool.close()


def _cause(exit_code: int | None) -> str:
    """Return why a process ended.

    >>> _cause(-9), _cause(1)
    ('killed by SIGKILL, often because memory ran out', 'exit code 1')
    """
    if exit_code is None or exit_code >= 0:
        return f"exit code {exit_code}"
    name = signal.Signals(-exit_code).name if -exit_code in set(signal.Signals) else f"signal {-exit_code}"
    return f"killed by {name}" + (", often because memory ran out" if name == "SIGKILL" else "")


def _serve(pipe: Connection[Any, Any], function: WorkerFunction[ItemT, ResultT], processes: int) -> None:
    """Run the worker: receive tasks and send events until the pipe closes."""
    # Ctrl-C ends a worker at once; the parent process reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Torch would take every core in each of the processes; it reads this when it is imported, which is later.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, usable_cores() // processes)))
    tasks: queue.SimpleQueue[ItemT] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    while True:
        pipe.send(run_task(function, tasks.get(), lambda share: pipe.send(float(share))))


def _receive(pipe: Connection[Any, Any], tasks: queue.SimpleQueue[ItemT]) -> None:
    try:
        while True:
            tasks.put(pipe.recv())
    finally:
        os._exit(0)  # the pipe has ended: there are no more tasks, or the parent process has ended
