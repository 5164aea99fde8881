"""How the C library keeps memory that was freed."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

_M_ARENA_MAX = -8  # of malloc.h


def release_freed_memory() -> None:
    """Give free pages of the heap back to the system; does nothing where the C library is not glibc.

    Batches of many shapes leave gaps in the heap, which grows by tens of megabytes over a recording of hours. A call
    takes a millisecond.
    """
    trim = _of_glibc("malloc_trim")
    if trim:
        trim(0)


def share_one_heap() -> None:
    """Let all threads that this process starts from now on share one heap; does nothing without glibc.

    By default each thread has a heap of its own, with gaps of its own. With one heap, tensors of one thread fill the
    gaps that another has left; the threads of a decoder seldom ask for memory at the same time.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt:
        mallopt(_M_ARENA_MAX, 1)


@cache
def _of_glibc(name: str) -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return getattr(library, name, None) if hasattr(library, "gnu_get_libc_version") else None
