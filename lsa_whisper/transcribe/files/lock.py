"""One writer for each transcript, also when two calls on the same output run at once.

The lock is the operating system's (``flock``): it ends with the process that holds it, however that ends, so that none
is ever left over. The file it needs stands beside the transcript for as long as the transcript is being made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has other locks; there, two calls at once both do the work, and both write it whole
    fcntl = None  # type: ignore[assignment]


@contextmanager
def only_writer(target: Path) -> Iterator[None]:
    """Hold the lock on the transcript at ``target``, whose folder must exist; wait for whoever has it."""
    if fcntl is None:
        yield
        return
    place = target.with_name(f".{target.name}.lock")
    handle = _locked(place, target)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(handle)


def _locked(place: Path, target: Path) -> int:
    """Return the open file that is locked; it is the one that bears the name now, not one that was removed since."""
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o660)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{target}: another call is writing it; waiting for that one", file=sys.stderr)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            return handle  # a file system without locks; the transcript is still written whole
        if _is_at(place, handle):
            return handle
        os.close(handle)


def _is_at(place: Path, handle: int) -> bool:
    try:
        return place.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False
