"""Text onto disk, whole or not at all, and not for others to read."""

from __future__ import annotations

import os
import re
from pathlib import Path
from uuid import uuid4

from lsa_whisper.disk import kind_of


def write_whole(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8 under a temporary name beside ``path``, then rename it.

    Raises:
        LsaWhisperError: the file cannot be written; an older one is still there.
    """
    try:
        put(text, Path(path))
    except OSError as error:
        reason = error.strerror or error
        raise kind_of(error)(f"{path}: cannot write it ({reason}); check the folder and the disk") from error


def put(text: str, path: Path) -> None:
    """Do what :func:`write_whole` does, for who has more to say when it fails.

    Raises:
        OSError: the file cannot be written; an older one is still there.
    """
    name = path.with_name(f".{path.name[:200]}.{uuid4().hex[:8]}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o660)  # less what the umask takes away
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        name.replace(path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def sweep(*paths: Path) -> None:
    """Remove what killed calls left of ``paths`` under temporary names; for who alone may write them now."""
    for path in paths:
        name = re.compile(rf"\.{re.escape(path.name)}\.(\w{{8}}|\d+\.part)")
        for left in path.parent.iterdir() if path.parent.is_dir() else ():
            if name.fullmatch(left.name):
                left.unlink(missing_ok=True)
