"""What is written here is for its owner, and for the group where the umask allows it; for nobody else.

Transcripts, manifests, reports, logs and models say what patients and children said. The rule is kept by the process's
own mask, so that it also holds for what libraries write and in processes that are started meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_OTHERS = 0o007


class _Mask:
    """The umask is one for the whole process: who comes first sets it, who leaves last puts it back."""

    def __init__(self) -> None:
        self._lock, self._users, self._before = Lock(), 0, 0

    def take(self) -> None:
        with self._lock:
            if not self._users:
                self._before = os.umask(0o077)
                os.umask(self._before | _OTHERS)
            self._users += 1

    def give_back(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                os.umask(self._before)


_mask = _Mask()


@contextmanager
def private_umask() -> Iterator[None]:
    """Give no rights to others on any file or folder that is made in the block, or in the function it decorates.

    >>> import tempfile; from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, private_umask():
    ...     Path(folder, "a").touch(0o666)
    ...     Path(folder, "a").stat().st_mode & 0o007
    0
    """
    _mask.take()
    try:
        yield
    finally:
        _mask.give_back()
