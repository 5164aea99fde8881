"""Praat TextGrid -> its interval tiers, from the long or the short text format.

Praat itself reads both as one: everything but free-standing numbers, quoted strings and flags is decoration.
praatio is not used: it reads header lines by position, no ``1e-05`` in the long format, raises ``AttributeError`` or
``IndexError`` on damaged files.
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
_LONGEST_S = 1e6


def parse(text: str) -> Tiers:
    r"""Return the intervals of each tier that has some, those without a label left out; point tiers are passed over.

    Tiers of one name are joined.

    >>> parse('File type = "ooTextFile"\nObject class = "TextGrid"\n0\n2\n<exists>\n1\n'
    ...       '"IntervalTier"\n"CHI"\n0\n2\n2\n0\n0.5\n"hi"\n0.5\n2\n""\n')
    {'CHI': [(TimeSpan(start_ms=0, end_ms=500), 'hi')]}

    Raises:
        ValueError: it is no TextGrid.
    """
    parts = _parts(text)
    if (next(parts, None), next(parts, None)) != ("ooTextFile", "TextGrid"):
        raise ValueError("does not begin as a TextGrid does")
    _number(parts), _number(parts)
    if next(parts, None) is not True:
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


def _parts(text: str) -> Iterator[str | float | bool]:
    for match in _PART.finditer(text):
        string, number, flag = match.groups()
        if string is not None:
            yield string.replace('""', '"')
        elif number is not None:
            yield float(number)
        elif flag is not None:
            yield flag == "exists"


def _number(parts: Iterator[str | float | bool]) -> float:
    part = next(parts, None)
    if not isinstance(part, float) or not math.isfinite(part) or abs(part) > _LONGEST_S:
        raise ValueError(f"a number is missing, there is {part!r}")
    return part


def _string(parts: Iterator[str | float | bool]) -> str:
    part = next(parts, None)
    if not isinstance(part, str):
        raise ValueError(f"a quoted text is missing, there is {part!r}")
    return part
