"""One writer per output, also when two commands run at the same time.

The lock itself is ``filelock``'s, which uses the operating system's own locks (``flock`` on Unix): a lock ends with the
process that holds it, however that process ends, and forked processes do not inherit it. This module adds what
``filelock`` leaves to its users: where the lock file is, that it is removed afterwards, that a second command says in
one sentence that it waits, and that work continues without a lock on network file systems that have none.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.own_files import verify_plain

if TYPE_CHECKING:
    from filelock import BaseFileLock

_MAX_NAME_BYTES = 240
"""Most file systems allow 255."""
_MAX_MISSED = 100  # times that a lock file was removed between two steps; more happen where no file can be
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}
"""What a file system without locks answers; files are still replaced as a whole there."""


@contextmanager
def write_lock(target: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock on an output, a file or a folder; the folder that contains it is created.

    ``target``, which need not exist, is what only one command may write at a time. With ``wait``, wait for the command
    that holds the lock, and print that; otherwise raise.

    Raises:
        LinkError: A link stands where the lock file belongs.
        LsaWhisperError: Another command holds the lock, and ``wait`` is false.
        OSError: The folder cannot be written to.
    """
    from filelock import FileLock

    place = _lock_path(target)
    verify_plain(place)
    lock = FileLock(place, fallback_to_soft=False)
    _acquire(lock, target, wait)
    try:
        yield
    finally:
        if lock.is_locked:  # not in a forked copy of the process
            with suppress(PermissionError):  # Windows removes no open file
                place.unlink(missing_ok=True)
            lock.release()


def is_abandoned(target: Path) -> bool:
    """Return whether a command was killed while it wrote ``target``: its lock file is there, and nothing holds it."""
    from filelock import FileLock

    place = _lock_path(target)
    with suppress(OSError):  # also filelock's Timeout
        if place.exists():
            with FileLock(place, fallback_to_soft=False).acquire(timeout=0):
                return True
    return False


def _lock_path(target: Path) -> Path:
    path = target.absolute()
    name = os.fsencode(path.name)
    if len(name) > _MAX_NAME_BYTES:
        # Two long names that are cut must not share a lock: a holder of both would deadlock.
        digest = hashlib.sha256(name).hexdigest()[:16]
        return path.with_name(f".{name[:200].decode(errors='ignore')}.{digest}.lock")
    return path.with_name(f".{path.name}.lock")


def _acquire(lock: BaseFileLock, target: Path, wait: bool) -> None:
    from filelock import Timeout

    folder, patience_s, missed = Path(lock.lock_file).parent, 0.0, 0
    while True:
        folder.mkdir(parents=True, exist_ok=True)  # the command before may have removed the empty folder
        try:
            lock.acquire(timeout=patience_s)
            return
        except Timeout:
            if not os.path.lexists(lock.lock_file):  # removed meanwhile; or no file can be here, which looks the same
                if (missed := missed + 1) > _MAX_MISSED:
                    raise FileNotFoundError(errno.ENOENT, "no file can be written here", str(folder)) from None
                continue
            if not wait:
                raise LsaWhisperError(
                    f"{target}: another command is writing it; wait until it ends, or choose another folder"
                ) from None
            print(
                f"{target}: another command is writing it; waiting until it ends (also a review that has it open)",
                file=sys.stderr,
            )
            patience_s = -1
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            Path(lock.lock_file).unlink(missing_ok=True)
            return
