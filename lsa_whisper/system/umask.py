"""Output files are readable by their owner and, where the umask allows it, by the group; never by other users.

Transcripts, manifests, reports, logs and models contain the speech of patients and children. The rule is enforced
through the umask of the process, so that it also holds for files written by libraries and by child processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

_OTHERS = 0o007


class _Mask:
    """The process has one umask: the first user sets it, the last user restores it."""

    def __init__(self) -> None:
        self.lock, self._users, self._before = Lock(), 0, 0

    def acquire(self) -> None:
        with self.lock:
            if not self._users:
                self._before = os.umask(0o077)
                os.umask(self._before | _OTHERS)
            self._users += 1

    def release(self) -> None:
        with self.lock:
            self._users -= 1
            if not self._users:
                os.umask(self._before)


_mask = _Mask()


def current_umask() -> int:
    """Return the umask of the process, which can only be read by setting it."""
    with _mask.lock:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


def share_by_umask(folder: Path) -> None:
    """Give the files in ``folder`` the permissions that the umask allows.

    safetensors creates its files for their owner only, whatever the umask, so that a group that shares a folder could
    not read the weights in it.
    """
    mode = 0o666 & ~current_umask()
    for file in folder.glob("*.safetensors"):
        file.chmod(mode)


@contextmanager
def private_umask() -> Iterator[None]:
    """Create files and folders without permissions for other users, in a block or in a decorated function.

    >>> import tempfile; from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, private_umask():
    ...     Path(folder, "a").touch(0o666)
    ...     Path(folder, "a").stat().st_mode & 0o007
    0
    """
    _mask.acquire()
    try:
        yield
    finally:
        _mask.release()
