"""What a disk refuses to take, whichever library is told so: it is full, read-only, over quota, somebody else's."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsa_whisper.errors import DiskError, LsaWhisperError

_NO_ROOM = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # Windows knows no quota
_FULL = _NO_ROOM | {errno.EFBIG, errno.EROFS}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP}
"""What may as well be said of a file that is read."""
_IN_WORDS = re.compile(r"\[errno (\d+)\]|\(os error (\d+)\)", re.IGNORECASE)  # Arrow's way and Rust's
_TORCH = re.compile(r"PytorchStreamWriter failed|inline_container\.cc|iostream error")


def disk_error_reason(error: BaseException) -> str | None:
    """Return why a disk did not take what was written, ``None`` when ``error`` is about something else.

    >>> disk_error_reason(OSError(28, "No space left on device", "model.bin"))
    'No space left on device'
    >>> disk_error_reason(RuntimeError("I/O error: Read-only file system (os error 30)"))
    'Read-only file system'
    >>> disk_error_reason(ValueError("no such option"))
    """
    if (number := _number(error)) is not None:
        return os.strerror(number) if number in _FULL | _CLOSED else None
    return "not all of it was taken" if isinstance(error, RuntimeError) and _TORCH.search(str(error)) else None


def _number(error: BaseException) -> int | None:
    """Return the system's number for what went wrong, where the library that was told it passes it on."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = _IN_WORDS.search(str(error))
    return int(found[1] or found[2]) if found else None


def is_disk_full(error: BaseException) -> bool:
    """Return whether a disk did not take what was written for want of room, so that making some helps.

    >>> is_disk_full(OSError(28, "No space left on device")), is_disk_full(FileExistsError(17, "File exists"))
    (True, False)
    """
    return _number(error) in _NO_ROOM


def disk_error_class(error: BaseException) -> type[LsaWhisperError]:
    """Return the error class for a disk error: ``DiskError`` only when other files on the disk will fail as well."""
    number = _number(error)
    return DiskError if number is None or number in _FULL else LsaWhisperError


@contextmanager
def convert_disk_errors(place: Path, kind: type[LsaWhisperError] | None = None) -> Iterator[None]:
    """Make one sentence of it when the disk refuses what is written to ``place`` in this block.

    Raises:
        LsaWhisperError: it did; of the ``kind`` that is asked for, else a :class:`DiskError` where that fits.
    """
    try:
        yield
    except LsaWhisperError:
        raise
    except Exception as error:  # each library has its own
        reason, other = disk_error_reason(error), _elsewhere(error, place)
        if reason is None or (other and _number(error) in _CLOSED):
            raise
        raise (kind or disk_error_class(error))(
            f"{other or place}: cannot be written ({reason}); make room there, or choose another place"
        ) from error


def _elsewhere(error: Exception, place: Path) -> Path | None:
    """Return the file that ``error`` names, if it lies neither below ``place`` nor beside it."""
    if not isinstance(error, OSError) or not isinstance(error.filename, str | bytes | os.PathLike):
        return None
    named = Path(os.fsdecode(error.filename))
    return None if named.absolute().is_relative_to(place.absolute().parent) else named
