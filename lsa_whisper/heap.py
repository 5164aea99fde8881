"""Memory that was freed goes back to the system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release_freed_memory() -> None:
    """Give free pages of the heap back to the system; does nothing where the C library is not glibc.

    Batches of many shapes leave gaps in the heap, which grows by tens of megabytes over a recording of hours. A call
    takes a millisecond.
    """
    trim = _malloc_trim()
    if trim:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
