"""One writer for each output, also when two calls on the same output run at once.

The lock is the operating system's (``flock``): it ends with the process that holds it, however that ends, so that none
is ever left over. The file it needs stands beside the output for as long as the output is being made.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError

try:
    import fcntl
except ImportError:  # Windows has other locks; there, two calls at once both do the work, and both write it whole
    fcntl = None  # type: ignore[assignment]

_LONGEST_NAME = 240
"""In bytes; most file systems take 255."""
_held: set[int] = set()


@contextmanager
def write_lock(target: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock on what is written to ``target``, a file or a folder; the folder it lies in is made.

    Args:
        target: what only one call at a time may write; it need not exist.
        wait: for whoever has the lock, and say so; otherwise refuse.

    Raises:
        LsaWhisperError: another call has the lock, and ``wait`` is false.
        OSError: the folder cannot be written to.
    """
    place = _place(target)
    if fcntl is None:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield
        return
    handle = _locked(place, target, wait)
    _held.add(handle)
    try:
        yield
    finally:
        if handle in _held:  # else this is a copy of the process that has it
            place.unlink(missing_ok=True)
            _held.remove(handle)
            os.close(handle)


def is_locked(target: Path) -> bool:
    """Tell whether a call writes ``target``, or was killed while it did and has left the lock's file."""
    return _place(target).exists()


def _place(target: Path) -> Path:
    whole = target.absolute()
    name = os.fsencode(whole.name)
    if len(name) > _LONGEST_NAME:  # cut, two long names must not become one: who holds both would wait for itself
        digest = hashlib.sha256(name).hexdigest()[:16]
        return whole.with_name(f".{name[:200].decode(errors='ignore')}.{digest}.lock")
    return whole.with_name(f".{whole.name}.lock")


def _locked(place: Path, target: Path, wait: bool) -> int:
    """Return the open file that is locked; it is the one that bears the name now, not one that was removed since."""
    while True:
        place.parent.mkdir(parents=True, exist_ok=True)  # whoever had the lock may have taken the empty folder away
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o660)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                os.close(handle)
                raise LsaWhisperError(
                    f"{target}: another call is writing it; let that one end, or choose another folder"
                ) from None
            print(f"{target}: another call is writing it; waiting for that one", file=sys.stderr)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            return handle  # a file system without locks; what is written is still written whole
        if _is_at(place, handle):
            return handle
        os.close(handle)


def _is_at(place: Path, handle: int) -> bool:
    try:
        return place.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False


def _leave_to_parent() -> None:
    """Let go of the locks in a copy of the process, such as a data loader's: the lock must end with its holder."""
    for handle in _held:
        os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
