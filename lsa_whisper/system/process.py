"""This process: how it gets memory and gives it back, its search for cyclic garbage, Ctrl-C, and its end.

Without glibc (macOS, Windows, musl), memory is left as it is.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import mmap
import os
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -3, -4, -8  # of malloc.h
_LARGE = 1 << 18
"""Bytes of a tensor that gets pages of its own. Two steps of a Whisper of 242 M parameters in bf16 took 3.9 GiB without
this, and 1.6 GiB with it."""
_KEPT = 1 << 30
"""Bytes of a kept heap that are asked for as huge pages, and not given back once they were used."""
_HUGE_PAGE = 1 << 21
_AGAIN_S = 0.05
"""Seconds until a lost Ctrl-C is raised again: the callback in which it was lost has ended by then."""


def release_freed_memory() -> None:
    """Give free pages of the heap back to the system, but for those at the end of a kept heap.

    Batches of many shapes leave gaps in the heap, which grows by tens of megabytes over a recording of hours. A call
    takes a millisecond.
    """
    trim = _of_glibc("malloc_trim")
    if trim:
        trim(ctypes.c_size_t(_KEPT if keep_heap.cache_info().currsize else 0))


@cache
def keep_heap() -> None:
    """Keep one heap for all threads that this process starts from now on, whose freed memory is used again.

    By default large tensors get new pages whenever they are computed, which the system fills with zeros, and each
    thread has a heap of its own, with gaps of its own. CTranslate2 takes and frees some hundred megabytes in each layer
    of an encoder: with new pages, whisper-base takes a third more processor time for the same speech.
    """
    mallopt, malloc, free, advise = map(_of_glibc, ("mallopt", "malloc", "free", "madvise"))
    if not (mallopt and malloc and free and advise):
        return
    mallopt(_M_ARENA_MAX, 1)
    mallopt(_M_MMAP_MAX, 0)
    mallopt(_M_TRIM_THRESHOLD, -1)
    malloc.restype = ctypes.c_void_p
    begin = malloc(ctypes.c_size_t(_KEPT))  # pages that are not written to take no memory
    if begin:
        first = -(-begin // _HUGE_PAGE) * _HUGE_PAGE
        advise(ctypes.c_void_p(first), ctypes.c_size_t(_KEPT - _HUGE_PAGE), mmap.MADV_HUGEPAGE)
        free(ctypes.c_void_p(begin))


def return_large_tensors() -> None:
    """Let this process return the memory of a large tensor as soon as it is freed.

    By default tensors of up to 32 MiB share a heap, whose gaps are kept.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)


@cache
def _of_glibc(name: str) -> Any:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return getattr(library, name, None) if hasattr(library, "gnu_get_libc_version") else None


@contextmanager
def without_collector(*, keep: bool = False) -> Iterator[None]:
    """Stop the search while objects are made that hold no cycles: a third of the time of reading a long transcript.

    With ``keep``, what was made stays until the program ends, so that later searches pass over it.
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


def repeat_lost_interrupts() -> None:
    """Let Ctrl-C stop this program even where Python loses it: in a callback that may raise nothing.

    When the last owner of an object goes, such callbacks run between any two lines, and Python only prints that the
    ``KeyboardInterrupt`` was ignored. Of 660 interrupts of a transcription at random times three were lost, all where
    the threads that had read a recording ended; the command then transcribed the other recordings, too.
    """
    report = sys.unraisablehook

    def report_or_repeat(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(_AGAIN_S, interrupt_main)  # here it would be lost once more
            again.daemon = True
            again.start()
        else:
            report(lost)

    sys.unraisablehook = report_or_repeat


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
