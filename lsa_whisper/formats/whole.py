"""Text onto disk, whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

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
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sweep(*paths: Path) -> None:
    """Remove what killed calls left of ``paths`` under temporary names; for who alone may write them now."""
    for path in paths:
        name = re.compile(rf"\.{re.escape(path.name)}\.(\w{{8}}|\d+\.part)")
        for left in path.parent.iterdir() if path.parent.is_dir() else ():
            if name.fullmatch(left.name):
                left.unlink(missing_ok=True)
