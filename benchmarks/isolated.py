"""A program that is loaded and timed in a process of its own.

Programs that compute in one process disturb each other: their thread pools share one OpenMP runtime, and torch is a
quarter slower after CTranslate2 has computed beside it.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

Run = Callable[[], Any]
_loaded: list[Run] = []
"""In the new process: the program."""


class Isolated:
    """Loads a program in a new process; each call runs it once there."""

    def __init__(self, load: Callable[..., Run], *given: Any) -> None:
        """Start the process, and wait until ``load(*given)`` has returned what it runs."""
        self._process = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        self._process.submit(_load, load, given).result()

    def __call__(self) -> tuple[float, float]:
        """Run the program; return the seconds of the clock and of the process's processor time."""
        return self._process.submit(_timed_run).result()

    def close(self) -> None:
        """End the process."""
        self._process.shutdown()


def _load(load: Callable[..., Run], given: tuple[Any, ...]) -> None:
    _loaded.append(load(*given))


def _timed_run() -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    _loaded[0]()
    return time.perf_counter() - clock, time.process_time() - processor
