"""Files that appear whole or not at all, and not for others to read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from lsa_whisper.disk import kind_of


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file beside ``path`` that becomes ``path`` when the block ends well, and vanishes when it does not.

    Its name is a new one, and a link planted under that name is not followed.

    Raises:
        OSError: the file cannot be written; an older one is still there.
    """
    name = path.with_name(f".{path.name[:200]}.{uuid4().hex[:8]}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o660)  # less the umask
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        name.replace(path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def put(text: str, path: Path) -> None:
    """Do what :func:`write_whole` does, for who has more to say when it fails.

    Raises:
        OSError: the file cannot be written; an older one is still there.
    """
    with whole_file(path) as file:
        file.write(text.encode())


def write_whole(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8 to ``path``, all at once or not at all.

    Raises:
        LsaWhisperError: the file cannot be written; an older one is still there.
    """
    try:
        put(text, Path(path))
    except OSError as error:
        reason = error.strerror or error
        raise kind_of(error)(f"{path}: cannot write it ({reason}); check the folder and the disk") from error


def sweep(*paths: Path) -> None:
    """Remove what killed calls left of ``paths`` under temporary names; for who alone may write them now."""
    for path in paths:
        name = re.compile(rf"\.{re.escape(path.name[:200])}\.[0-9a-f]{{8}}")
        for left in path.parent.iterdir() if path.parent.is_dir() else ():
            if name.fullmatch(left.name):
                left.unlink(missing_ok=True)
