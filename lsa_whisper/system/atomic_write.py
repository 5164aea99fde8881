"""Atomic writes: a file appears complete or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from lsa_whisper.system.disk import disk_error_class


def truncate_name(name: str) -> str:
    """Return ``name`` cut to 200 bytes, which leaves room for a suffix: file systems allow 255 bytes, not letters.

    >>> truncate_name("visit.cha"), len(truncate_name("語" * 83 + ".cha"))
    ('visit.cha', 66)
    """
    return os.fsencode(name)[:200].decode(errors="ignore")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file in the folder of ``path``; it replaces ``path`` if the block succeeds.

    The temporary name is new each time, and a symbolic link under that name is not followed.

    Raises:
        OSError: the file cannot be written; an existing one is unchanged.
    """
    name = path.with_name(f".{truncate_name(path.name)}.{uuid4().hex[:8]}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o660)  # less the umask
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        name.replace(path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def replace_file(content: str | bytes, path: Path) -> None:
    """Write ``content`` to ``path`` as :func:`write_atomic` does, for callers that report an ``OSError`` themselves.

    Raises:
        OSError: the file cannot be written; an existing one is unchanged.
    """
    # A file name that is not UTF-8 contains lone surrogates, which a UTF-8 file cannot hold.
    data = content if isinstance(content, bytes) else content.encode(errors="replace")
    with atomic_file(path) as file:
        file.write(data)


def write_atomic(content: str | bytes, path: str | Path) -> None:
    """Write ``content``, text as UTF-8, to ``path``, completely or not at all.

    Raises:
        LsaWhisperError: the file cannot be written; an existing one is unchanged.
    """
    try:
        replace_file(content, Path(path))
    except OSError as error:
        reason = error.strerror or error
        raise disk_error_class(error)(f"{path}: cannot write it ({reason}); check the folder and the disk") from error


def remove_leftovers(*paths: Path) -> None:
    """Remove the temporary files that killed commands left for ``paths``; the caller must hold their lock."""
    for path in paths:
        name = re.compile(rf"\.{re.escape(truncate_name(path.name))}\.[0-9a-f]{{8}}")
        for left in path.parent.iterdir() if path.parent.is_dir() else ():
            if name.fullmatch(left.name):
                left.unlink(missing_ok=True)
