"""What a disk refuses to take, whichever library is told so: it is full, read-only, over quota, somebody else's."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError

_REFUSALS = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM", "EIO", "ENOTDIR", "EEXIST", "ENAMETOOLONG")
    if hasattr(errno, name)  # Windows knows no quota
}
_IN_WORDS = re.compile(r"\[errno (\d+)\]|\(os error (\d+)\)", re.IGNORECASE)  # Arrow's way and Rust's
_TORCH = re.compile(r"PytorchStreamWriter failed|inline_container\.cc|iostream error")


def refusal(error: BaseException) -> str | None:
    """Return why a disk did not take what was written, ``None`` when ``error`` is about something else.

    >>> refusal(OSError(28, "No space left on device", "model.bin"))
    'No space left on device'
    >>> refusal(RuntimeError("I/O error: Read-only file system (os error 30)"))
    'Read-only file system'
    >>> refusal(ValueError("no such option"))
    """
    number = error.errno if isinstance(error, OSError) else None
    if number is None and (found := _IN_WORDS.search(str(error))):
        number = int(found[1] or found[2])
    if number is not None:
        return os.strerror(number) if number in _REFUSALS else None
    return "not all of it was taken" if isinstance(error, RuntimeError) and _TORCH.search(str(error)) else None


@contextmanager
def writing(place: Path, kind: type[LsaWhisperError] = LsaWhisperError) -> Iterator[None]:
    """Make one sentence of it when the disk refuses what is written to ``place`` in this block.

    Raises:
        LsaWhisperError: it did; of the ``kind`` that is asked for.
    """
    try:
        yield
    except LsaWhisperError:
        raise
    except Exception as error:  # each library has its own
        reason = refusal(error)
        if reason is None:
            raise
        raise kind(f"{place}: cannot be written ({reason}); make room there, or choose another place") from error
