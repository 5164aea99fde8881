"""A program that is loaded and timed in a process of its own.

Programs that compute in one process disturb each other: their thread pools share one OpenMP runtime, and torch is a
quarter slower after CTranslate2 has computed beside it.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

Run = Callable[[], Any]


class Isolated:
    """Loads a program in a new process; each call runs it once there."""

    def __init__(self, load: Callable[..., Run], *given: Any) -> None:
        """Start the process, and wait until ``load(*given)`` has returned what it runs.

        Raises:
            EOFError: If it ended before; its traceback is on standard error.
        """
        context = multiprocessing.get_context("spawn")
        self._pipe, far = context.Pipe()
        context.Process(target=_serve, args=(far, load, given), daemon=True).start()
        far.close()
        self._pipe.recv()

    def __call__(self) -> tuple[float, float]:
        """Run the program; return the seconds of the clock and of the process's processor time.

        Raises:
            EOFError: If it ended before; its traceback is on standard error.
        """
        self._pipe.send(True)
        clock_s, processor_s = self._pipe.recv()
        return clock_s, processor_s

    def close(self) -> None:
        """End the process."""
        self._pipe.close()


def _serve(pipe: Connection, load: Callable[..., Run], given: tuple[Any, ...]) -> None:
    run = load(*given)
    pipe.send(None)
    while True:
        try:
            pipe.recv()
        except EOFError:
            return
        clock, processor = time.perf_counter(), time.process_time()
        run()
        pipe.send((time.perf_counter() - clock, time.process_time() - processor))
