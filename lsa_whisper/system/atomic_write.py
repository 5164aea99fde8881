"""Atomic writes: a file appears complete, and on disk, or not at all."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from lsa_whisper.system.disk import disk_error_class
from lsa_whisper.system.own_files import opened_folder, sync_folder


def truncate_name(name: str) -> str:
    """Return ``name`` cut to 200 bytes, which leaves room for a suffix: file systems allow 255 bytes, not letters.

    >>> truncate_name("visit.cha"), len(truncate_name("語" * 83 + ".cha"))
    ('visit.cha', 66)
    """
    return os.fsencode(name)[:200].decode(errors="ignore")


@contextmanager
def atomic_file(path: Path, *, own: bool = False) -> Iterator[BinaryIO]:
    """Yield a temporary file in the folder of ``path``; it replaces ``path``, on disk, if the block succeeds.

    The temporary name is new each time, and a link under either name is not followed. If the folder is replaced
    meanwhile, the file stays in the one that was there at the start. With ``own``, the folder is one of this program,
    which is created and must not be a link.

    Raises:
        LinkError: The folder is a link.
        OSError: The file cannot be written; an existing one is unchanged.
    """
    with opened_folder(path.parent, own=own) as folder:
        name = f".{truncate_name(path.name)}.{uuid4().hex[:8]}"
        temporary, final = (name, path.name) if folder is not None else (str(path.with_name(name)), str(path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with _naming(path):
            handle = os.open(temporary, flags, 0o660, dir_fd=folder)  # less the umask
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            with _naming(path):
                if path.is_dir():  # a link to a folder would be replaced itself
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                os.replace(temporary, final, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise
        sync_folder(folder)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the whole path in errors about a name relative to a folder."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def replace_file(content: str | bytes, path: Path, *, own: bool = False) -> None:
    """Write ``content`` to ``path`` as :func:`write_atomic` does, for callers that report an ``OSError`` themselves.

    Raises:
        OSError: The file cannot be written; an existing one is unchanged.
    """
    # A file name that is not UTF-8 contains lone surrogates, which a UTF-8 file cannot hold.
    data = content if isinstance(content, bytes) else content.encode(errors="replace")
    with atomic_file(path, own=own) as file:
        file.write(data)


def write_atomic(content: str | bytes, path: str | Path, *, own: bool = False) -> None:
    """Write ``content``, text as UTF-8, to ``path``, completely or not at all; it is on disk then.

    ``own`` is as for :func:`atomic_file`.

    Raises:
        LsaWhisperError: The file cannot be written; an existing one is unchanged.
    """
    try:
        replace_file(content, Path(path), own=own)
    except OSError as error:
        reason = error.strerror or error
        raise disk_error_class(error)(f"{path}: cannot write it ({reason}); check the folder and the disk") from error


def remove_leftovers(*paths: Path) -> None:
    """Remove the temporary files that killed commands left for ``paths``; the caller must hold their lock."""
    for path in paths:
        name = re.compile(rf"\.{re.escape(truncate_name(path.name))}\.[0-9a-f]{{8}}")
        for leftover in path.parent.iterdir() if path.parent.is_dir() else ():
            if name.fullmatch(leftover.name):
                leftover.unlink(missing_ok=True)
