"""JSON from untrusted sources, where every problem is a ``ValueError``, and JSON that this project writes.

Python's parser raises three kinds of errors: for text that is not JSON, for nesting that overflows its stack, and for
numbers with too many digits. Values that it barely parses would overflow the stack of code that walks through them, so
the limit on depth is far lower.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

_MAX_BYTES = 1 << 27
"""The largest file that is read; the vocabulary of a model has a few MB."""
_MAX_DEPTH = 64
_TOO_DEEP = "lists or objects are nested too deep"


def parse(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    >>> parse('{"rank": 8}')
    {'rank': 8}
    >>> parse("[" * 65 + "]" * 65)
    Traceback (most recent call last):
    ...
    ValueError: lists or objects are nested too deep

    Raises:
        ValueError: The text is not JSON, or nested too deep.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    brackets = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if brackets > _MAX_DEPTH and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def serialize(value: Any, *, indent: int | None = None) -> str:
    r"""Return ``value`` as JSON that a UTF-8 file can hold, with non-ASCII letters unescaped.

    A file name that is not UTF-8 contains lone surrogates; then everything but ASCII is escaped.

    >>> serialize({"session": "é"}), serialize(["caf\udce9"])
    ('{"session": "é"}', '["caf\\udce9"]')
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def _is_deep(value: Any) -> bool:
    """Return whether lists or objects are nested deeper than the limit."""
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, list | dict)]
        level = [item for items in inner for item in items]
        if not inner:
            return False
    return True


def read(path: Path) -> Any:
    """Return the value in the UTF-8 file at ``path``.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not JSON in UTF-8, too large, or nested too deep.
    """
    with os.fdopen(_open_plain(path), "rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"more than {_MAX_BYTES >> 20} MB of text; is this the right file?")
    return parse(data.decode("utf-8"))


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the object in the UTF-8 file at ``path``; an empty one if it is absent, damaged or something else."""
    try:
        value = read(path)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _open_plain(path: Path) -> int:
    """Return a descriptor of a file; a FIFO, which may never be written to, is an error."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    if stat.S_ISFIFO(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "is a FIFO, not a file", str(path))
    return handle


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number that arithmetic can use; booleans do not count.

    >>> is_finite(1.5), is_finite(10**400), is_finite(float("nan")), is_finite(True), is_finite("1")
    (True, False, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300
