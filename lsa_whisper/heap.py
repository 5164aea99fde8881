"""The C library's heap: one for all threads of a process that runs for hours.

glibc gives threads separate heaps. Memory that one thread frees cannot be used by another, so that a process whose
threads pass arrays to each other grows with its running time.
"""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache

_M_ARENA_MAX = -8  # malloc.h
_CHOSEN = ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "LD_PRELOAD")
"""Environment variables with which a user configures the heap, or replaces it."""


@cache
def share_one_heap() -> bool:
    """Let all threads allocate from one heap, and return whether they do now.

    With another C library than glibc, or when the user configured the heap by an environment variable, nothing is
    changed. Threads that have a heap of their own already keep it: call this before the first threads start.
    """
    if platform.libc_ver()[0] != "glibc" or any(os.environ.get(name) for name in _CHOSEN):
        return False
    return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1))
