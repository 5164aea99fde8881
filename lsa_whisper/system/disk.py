"""Disk errors of any library (disk full, read-only, over quota, no permission) as one-line errors."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsa_whisper.errors import DiskError, LsaWhisperError
from lsa_whisper.system.machine import nearest_existing

_NO_SPACE = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # Windows knows no quota
_FULL = _NO_SPACE | {errno.EFBIG, errno.EROFS}
_UNWRITABLE = {
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.ELOOP,
}
"""Errors that reading a file can cause, too."""
_IN_WORDS = re.compile(r"\[errno (\d+)\]|\(os error (\d+)\)", re.IGNORECASE)  # Arrow's form and Rust's
_TORCH = re.compile(r"PytorchStreamWriter failed|inline_container\.cc|iostream error")


def disk_error_reason(error: BaseException) -> str | None:
    """Return why a disk rejected a write, ``None`` when ``error`` has another cause.

    >>> disk_error_reason(OSError(28, "No space left on device", "model.bin"))
    'No space left on device'
    >>> disk_error_reason(RuntimeError("I/O error: Read-only file system (os error 30)"))
    'Read-only file system'
    >>> disk_error_reason(ValueError("no such option"))
    """
    if (number := _number(error)) is not None:
        return os.strerror(number) if number in _FULL | _UNWRITABLE else None
    return "it was not written completely" if isinstance(error, RuntimeError) and _TORCH.search(str(error)) else None


def _number(error: BaseException) -> int | None:
    """Return the ``errno`` of an error, where the library that received it passes it on."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    match = _IN_WORDS.search(str(error))
    return int(match[1] or match[2]) if match else None


def unwritable_reason(folder: Path) -> str:
    """Return why nothing can be written into a folder, which need not exist; empty if something can.

    A file is written and removed, because some places refuse what their permissions allow.

    >>> unwritable_reason(Path("/dev/null/x"))
    'Not a directory'
    """
    try:
        with tempfile.TemporaryFile(dir=nearest_existing(folder)):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def is_disk_full(error: BaseException) -> bool:
    """Return whether a write failed for lack of space or quota, so that freeing space helps.

    >>> is_disk_full(OSError(28, "No space left on device")), is_disk_full(FileExistsError(17, "File exists"))
    (True, False)
    """
    return _number(error) in _NO_SPACE


def disk_error_class(error: BaseException) -> type[LsaWhisperError]:
    """Return the error class for a disk error: ``DiskError`` only when other files on the disk will fail as well."""
    number = _number(error)
    return DiskError if number is None or number in _FULL else LsaWhisperError


@contextmanager
def convert_disk_errors(place: Path, kind: type[LsaWhisperError] | None = None) -> Iterator[None]:
    """Convert disk errors in this block to a one-line error.

    ``place`` is the file or folder that the block writes. By default the error is a :class:`DiskError` where further
    writes will fail as well.

    Raises:
        LsaWhisperError: The disk rejected a write.
    """
    try:
        yield
    except LsaWhisperError:
        raise
    except Exception as error:  # each library has its own
        reason, path = disk_error_reason(error), _other_file(error, place)
        if reason is None or (path and _number(error) in _UNWRITABLE):
            raise
        raise (kind or disk_error_class(error))(
            f"{path or place}: cannot be written ({reason}); free space there, or choose another place"
        ) from error


def _other_file(error: Exception, place: Path) -> Path | None:
    """Return the file that ``error`` names if it is outside the folder of ``place``."""
    if not isinstance(error, OSError) or not isinstance(error.filename, str | bytes | os.PathLike):
        return None
    path = Path(os.fsdecode(error.filename))
    return None if path.absolute().is_relative_to(place.absolute().parent) else path
