"""JSON that somebody else may have written: what is wrong with it is always a ``ValueError``. And JSON of our own.

Python's reader raises three kinds of errors for what is no JSON, is nested too deep for its stack, or has numbers of
more digits than it will read. What it can just read would overrun the stack of whoever walks through it, so the limit
on depth lies far below.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 27
"""The largest file that is read whole: the vocabulary of a model has a few MB."""
MAX_DEPTH = 64


def parse(text: str | bytes) -> Any:
    """Return the value that ``text`` describes.

    >>> parse('{"rank": 8}')
    {'rank': 8}
    >>> parse("[" * 65 + "]" * 65)
    Traceback (most recent call last):
    ...
    ValueError: lists or objects are nested too deep

    Raises:
        ValueError: it is no JSON, or more than is read here.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    brackets = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if brackets > MAX_DEPTH and _is_deep(value):
        raise _too_deep()
    return value


def serialize(value: Any, *, indent: int | None = None) -> str:
    r"""Return ``value`` as JSON that a UTF-8 file can hold, letters as they are.

    A file name that is not UTF-8 comes from the system with lone surrogates; then all but ASCII is written as escapes.

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
    """Tell whether more than :data:`MAX_DEPTH` lists or objects lie in one another."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, list | dict)]
        level = [each for some in inner for each in some]
        if not inner:
            return False
    return True


def _too_deep() -> ValueError:
    return ValueError("lists or objects are nested too deep")


def read(path: Path) -> Any:
    """Return the value in the UTF-8 file at ``path``.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no JSON in UTF-8, or more than is read here.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES >> 20} MB of text; is this the right file?")
    return parse(data.decode("utf-8"))


def is_finite(value: Any) -> bool:
    """Tell whether a value is a number that can be computed with; of a truth value it is not told.

    >>> is_finite(1.5), is_finite(10**400), is_finite(float("nan")), is_finite(True), is_finite("1")
    (True, False, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300
