"""The Python interpreter: its search for cyclic garbage, and its finalization."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def without_collector(*, keep: bool = False) -> Iterator[None]:
    """Stop the search while objects are made that hold no cycles: a third of the time of reading a long transcript.

    Args:
        keep: Whether what was made stays until the program ends, so that later searches pass over it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if keep:
                gc.freeze()
            gc.enable()


@contextmanager
def skipped_finalization() -> Iterator[None]:
    """End the program with its exit status after the exit handlers that it registers, without finalizing Python.

    A thread of gloo releases the tensors of the last exchange when it is next scheduled. If Python is finalizing by
    then, the process ends with SIGABRT ("terminate called without an active exception") although its work is done;
    see issue 190489 of PyTorch. On a busy machine this happened to a rank that had saved everything.
    """
    status: list[int] = []
    atexit.register(_end, status)  # handlers run last in, first out
    try:
        yield
    except SystemExit as end:
        status.append(end.code if isinstance(end.code, int) else int(end.code is not None))
        raise


def _end(status: Sequence[int]) -> None:
    if status:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status[0])
