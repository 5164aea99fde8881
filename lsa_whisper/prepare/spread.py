"""Tasks done in this process or in several others.

The others are started afresh (``spawn``), because a copy of a process with threads, such as one that has loaded torch,
may hang. They end with the process that started them, however that one ends: each holds one end of a pipe, and the
system closes the other.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import TypeVar

from lsa_whisper.errors import CorpusError

Task = TypeVar("Task")
Done = TypeVar("Done")


def spread(
    work: Callable[[Task], Done], tasks: Sequence[Task], processes: int, *, name: Callable[[Task], str] = str
) -> Generator[tuple[int, Done], None, None]:
    """Yield the index of each task and what ``work`` made of it, as they are finished.

    Close the iterator (``contextlib.closing``) when it is not read to its end, so that the processes stop at once.

    Args:
        work: A function of a module, because other processes must find it.
        tasks: What it is called with.
        processes: How many work at once; 1 means this one.
        name: How a task is called in an error.

    Raises:
        CorpusError: A process died.
        Exception: Whatever ``work`` raises.
    """
    if processes == 1 or len(tasks) < 2:
        yield from enumerate(map(work, tasks))
        return
    context = multiprocessing.get_context("spawn")
    lifeline, in_memory = context.Pipe(duplex=False)
    count = min(processes, len(tasks))
    with lifeline, in_memory, ProcessPoolExecutor(count, context, initializer=_begin, initargs=(lifeline,)) as pool:
        pending: dict[Future[Done], int] = {}
        waiting = iter(range(len(tasks)))
        try:
            while True:
                # A few tasks wait for each process; a session does not become a future before its turn is near.
                while len(pending) < 2 * count and (at := next(waiting, None)) is not None:
                    pending[pool.submit(work, tasks[at])] = at
                if not pending:
                    return
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    done = future.result()
                    yield pending.pop(future), done
        except BrokenProcessPool as error:
            raise CorpusError(_died([name(tasks[at]) for at in sorted(pending.values())[:count]])) from error
        except BaseException:
            in_memory.close()
            raise


def _begin(lifeline: Connection) -> None:
    """Let a new process end with its parent, and at once at Ctrl-C: its ffmpeg hears that too and breaks off."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv()
    finally:
        os._exit(1)


def _died(names: Sequence[str]) -> str:
    return (
        f"a process died while it worked on one of {', '.join(names)}: out of memory, killed, or broken by a damaged "
        "recording; what is finished is kept, so call again, with fewer processes or without that session"
    )
