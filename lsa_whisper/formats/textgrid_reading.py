"""Praat TextGrid -> its interval tiers, from the long or the short text format.

Praat itself reads both as one: everything but free-standing numbers, quoted strings and flags is decoration.
praatio is not used: it accepts a tier whose count of intervals is wrong, and its errors name no line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.timespan import TimeSpan

Tiers = dict[str, list[tuple[TimeSpan, str]]]
_PART = re.compile(r'!.*|"((?:[^"]|"")*)"|(?<!\S)([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?!\S)|<(exists|absent)>')
_MAX_DURATION_S = 1e6


class TextGridError(ValueError):
    """A text is no TextGrid, or damaged at ``offset``."""

    def __init__(self, message: str, offset: int = 0):
        super().__init__(message)
        self.offset = offset


def parse(text: str, *, strict: bool = False) -> Tiers:
    r"""Return the intervals of each tier that has some, those without a label left out; point tiers are passed over.

    Tiers of one name are joined.
    A label without a duration is left out; one that ends before it starts is an error if ``strict``.

    >>> parse('File type = "ooTextFile"\nObject class = "TextGrid"\n0\n2\n<exists>\n1\n'
    ...       '"IntervalTier"\n"CHI"\n0\n2\n2\n0\n0.5\n"hi"\n0.5\n2\n""\n')
    {'CHI': [(TimeSpan(start_ms=0, end_ms=500), 'hi')]}

    Raises:
        TextGridError: it is no TextGrid, or damaged.
    """
    parts = _Parts(text)
    if (parts.take(), parts.take()) != ("ooTextFile", "TextGrid"):
        raise TextGridError("does not begin as a TextGrid does")
    _number(parts), _number(parts)
    if parts.take() is not True:
        return {}
    tiers: Tiers = {}
    for _ in range(round(_number(parts))):
        kind, name = _string(parts), _string(parts)
        _number(parts), _number(parts)
        for _ in range(round(_number(parts))):
            begin = _number(parts)
            if kind == "TextTier":
                _string(parts)
                continue
            span = TimeSpan(round(1000 * begin), round(1000 * _number(parts)))
            label = _string(parts).strip()
            if strict and label and (span.start_ms < 0 or span.duration_ms < 0):
                raise TextGridError(f"an interval of {name!r} ends before it starts", parts.offset)
            if label and span.start_ms >= 0 and span.duration_ms > 0:
                tiers.setdefault(name.strip(), []).append((span, label))
    return tiers


def read(path: str | Path) -> Tiers:
    """Return what :func:`parse` makes of the file at ``path``, which is UTF-8 or UTF-16, as Praat writes.

    Raises:
        LsaWhisperError: the file cannot be read, or is no TextGrid.
    """
    try:
        data = Path(path).read_bytes()
        utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        return parse(data.decode("utf-16" if utf16 else "utf-8-sig"))
    except OSError as error:
        raise LsaWhisperError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:
        raise LsaWhisperError(f"{path}: is no TextGrid ({error}); save it in Praat as a text file") from error


class _Parts:
    """The numbers, strings and flags of a text, one after another; ``offset`` is where the last one stands."""

    def __init__(self, text: str):
        self.offset = 0
        self._found = self._all(text)

    def take(self) -> str | float | bool | None:
        return next(self._found, None)

    def _all(self, text: str) -> Iterator[str | float | bool]:
        for match in _PART.finditer(text):
            string, number, flag = match.groups()
            self.offset = match.start()
            if string is not None:
                yield string.replace('""', '"')
            elif number is not None:
                yield float(number)
            elif flag is not None:
                yield flag == "exists"


def _number(parts: _Parts) -> float:
    part = parts.take()
    if not isinstance(part, float) or not math.isfinite(part) or abs(part) > _MAX_DURATION_S:
        raise TextGridError(f"a number is missing, there is {_brief(part)}", parts.offset)
    return part


def _string(parts: _Parts) -> str:
    part = parts.take()
    if not isinstance(part, str):
        raise TextGridError(f"a quoted text is missing, there is {_brief(part)}", parts.offset)
    return part


def _brief(part: object) -> str:
    return "nothing more" if part is None else repr(part)[:40]
