"""Files that this program keeps beside a person's: opened without following links, and on disk when they are written.

A folder from another person may contain symbolic links, hard links or FIFOs under the names that a command will write.
Through a link, the command would write outside the folder; at a FIFO it would wait forever. So a file that is appended
to or read back is opened in a folder that is already open, without following links, and must be a plain file with one
name. On Windows, which cannot open a file relative to a folder, the same is verified by name.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError

_RELATIVE = os.open in os.supports_dir_fd
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_FILE = _NO_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LINK_ERRORS = (errno.ELOOP, errno.EMLINK, errno.ENXIO)
"""What opening answers for a symbolic link on Linux and macOS, on FreeBSD, and for a FIFO without a reader."""


class LinkError(LsaWhisperError):
    """A link or a FIFO stands where this program keeps a file or folder of its own."""


def own_folder(path: Path) -> Path:
    """Create a folder of this program inside a folder that exists, or verify that the one there is not a link.

    Raises:
        LinkError: It is a link, or not a folder.
        OSError: It cannot be created.
    """
    with suppress(FileExistsError):
        path.mkdir()
        with opened_folder(path.parent) as parent:
            sync_folder(parent)
    if path.is_symlink() or not path.is_dir():
        raise _refusal(path)
    return path


def verify_inside(path: Path, folder: Path) -> None:
    """Return when ``path`` is inside ``folder``, also where folders between them are links.

    Raises:
        LinkError: A link leads out of ``folder``.
    """
    real = Path(os.path.realpath(path.parent))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise LinkError(f"{path}: would be written to {real}, outside {folder}, because of a link; remove the link")


def verify_no_links(folder: Path) -> None:
    """Return when everything below a folder of this program is a folder, or a plain file with one name.

    Raises:
        LinkError: Something else is there.
    """
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_dir():
            verify_plain(path)


def verify_plain(path: Path) -> None:
    """Return when a file of this program is missing, or a plain file with one name.

    Raises:
        LinkError: Something else is there.
    """
    with suppress(FileNotFoundError):
        if not _is_plain(path.lstat()):
            raise _refusal(path)


@contextmanager
def opened_folder(path: Path, *, own: bool = False) -> Iterator[int | None]:
    """Give a descriptor of a folder, or ``None`` on systems that cannot open files relative to one.

    An ``own`` folder is one of this program, which must not be a link.

    Raises:
        LinkError: It is a link.
        OSError: It cannot be opened.
    """
    if own:
        own_folder(path)
    if not _RELATIVE:
        yield None
        return
    try:
        folder = os.open(path, os.O_RDONLY | _FOLDER | (_NO_LINKS if own else 0))
    except NotADirectoryError as error:
        raise _refusal(path) from error
    try:
        yield folder
    finally:
        os.close(folder)


def sync_folder(folder: int | None) -> None:
    """Put the names in an open folder on disk, where the file system can do that."""
    if folder is not None:
        with suppress(OSError):
            os.fsync(folder)


def append_own(path: Path, data: bytes, *, own: bool = False) -> None:
    """Append ``data`` to a file, all of it or nothing, and return when it is on disk.

    The file is created if it is missing; ``own`` is as for :func:`opened_folder`.

    Raises:
        LinkError: A link or a FIFO stands in its place.
        OSError: It cannot be written.
    """
    with opened_folder(path.parent, own=own) as folder:
        handle = _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, folder)
        try:
            size = os.fstat(handle).st_size
            if _written(handle, data) < len(data):
                os.ftruncate(handle, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(handle)
        finally:
            os.close(handle)
        if not size:
            sync_folder(folder)


def _written(handle: int, data: bytes) -> int:
    try:
        return os.write(handle, data)
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            return 0
        raise


def read_own(path: Path, *, own: bool = False) -> bytes:
    """Return the content of a file of this program.

    Raises:
        LinkError: A link or a FIFO stands in its place.
        OSError: It is missing or cannot be read.
    """
    with opened_folder(path.parent, own=own) as folder, os.fdopen(_opened(path, os.O_RDONLY, folder), "rb") as file:
        return file.read()


def _opened(path: Path, flags: int, folder: int | None) -> int:
    """Return a descriptor of a plain file with one name."""
    if folder is None and path.is_symlink():
        raise _refusal(path)
    try:
        handle = os.open(path if folder is None else path.name, flags | _FILE, 0o660, dir_fd=folder)  # less the umask
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise _refusal(path) from error
        raise OSError(error.errno, error.strerror, str(path)) from error
    if not _is_plain(os.fstat(handle)):
        os.close(handle)
        raise _refusal(path)
    return handle


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _refusal(path: Path) -> LinkError:
    return LinkError(f"{path}: a symbolic link, a hard link or a pipe is in the place of a file of ours; remove it")
