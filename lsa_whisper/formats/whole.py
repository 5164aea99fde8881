"""Text onto disk, whole or not at all, and not for others to read."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from lsa_whisper.errors import LsaWhisperError


def write_whole(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8 under a temporary name beside ``path``, then rename it.

    Raises:
        LsaWhisperError: the file cannot be written; an older one is still there.
    """
    try:
        put(text, Path(path))
    except OSError as error:
        reason = error.strerror or error
        raise LsaWhisperError(f"{path}: cannot write it ({reason}); check the folder and the disk") from error


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
