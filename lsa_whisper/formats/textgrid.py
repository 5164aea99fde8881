"""Praat TextGrid, written and read as interval tiers.

There is one tier for each speaker, and tiers of words and of dependent tiers if there are some. Read are the long and
the short text format. Praat itself reads both as one: everything but free-standing numbers, quoted strings and flags is
decoration. praatio is not used: it accepts a tier whose count of intervals is wrong, and its errors name no line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lsa_whisper.chat import Transcript
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats.readable_text import dependent_tiers, placed_utterances
from lsa_whisper.timespan import TimeSpan

Tiers = dict[str, list[tuple[TimeSpan, str]]]
_PART = re.compile(r'!.*|"((?:[^"]|"")*)"|(?<!\S)([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?!\S)|<(exists|absent)>')
_MAX_DURATION_S = 1e6


class TextGridError(ValueError):
    """A text is not a TextGrid, or damaged at ``offset``."""

    def __init__(self, message: str, offset: int = 0):
        super().__init__(message)
        self.offset = offset


def parse(text: str, *, strict: bool = False, points: Tiers | None = None) -> Tiers:
    r"""Return the intervals of each tier that has some, those without a label left out.

    Tiers of one name are joined. The labels of point tiers are added to ``points``.
    A label without a duration is left out; one that ends before it starts is an error if ``strict``.

    >>> parse('File type = "ooTextFile"\nObject class = "TextGrid"\n0\n2\n<exists>\n1\n'
    ...       '"IntervalTier"\n"CHI"\n0\n2\n2\n0\n0.5\n"hi"\n0.5\n2\n""\n')
    {'CHI': [(TimeSpan(start_ms=0, end_ms=500), 'hi')]}

    Raises:
        TextGridError: It is not a TextGrid, or damaged.
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
                if (mark := _string(parts).strip()) and points is not None and begin >= 0:
                    at = round(1000 * begin)
                    points.setdefault(name.strip(), []).append((TimeSpan(at, at), mark))
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
        LsaWhisperError: The file cannot be read, or is not a TextGrid.
    """
    try:
        data = Path(path).read_bytes()
        utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        return parse(data.decode("utf-16" if utf16 else "utf-8-sig"))
    except OSError as error:
        raise LsaWhisperError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:
        raise LsaWhisperError(f"{path}: is not a TextGrid ({error}); save it in Praat as a text file") from error


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


_Interval = tuple[int, int, str]


def serialize(transcript: Transcript) -> str:
    """Return a TextGrid in Praat's long text format; the utterances keep their CHAT marks."""
    rows = placed_utterances(transcript)
    end_ms = max((end for _, end, _ in rows), default=1)
    tiers: dict[str, list[_Interval]] = {}
    for start, end, utterance in rows:
        tiers.setdefault(utterance.speaker, []).append((start, end, utterance.text))
        for word, at in utterance.word_times:
            tiers.setdefault(f"{utterance.speaker} words", []).append((at.start_ms, at.end_ms, word))
        for name, value in dependent_tiers(utterance).items():
            tiers.setdefault(f"{name}@{utterance.speaker}", []).append((start, end, value))
    head = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
    head += f"xmin = 0\nxmax = {end_ms / 1000:.3f}\ntiers? <exists>\nsize = {len(tiers)}\nitem []:\n"
    return head + "".join(_tier(n, name, tiers[name], end_ms) for n, name in enumerate(tiers, start=1))


def _tier(number: int, name: str, readable_text: Iterable[_Interval], end_ms: int) -> str:
    intervals = list(_filled(readable_text, end_ms))
    head = f'    item [{number}]:\n        class = "IntervalTier"\n        name = "{name}"\n'
    head += f"        xmin = 0\n        xmax = {end_ms / 1000:.3f}\n        intervals: size = {len(intervals)}\n"
    return head + "".join(
        f"        intervals [{n}]:\n            xmin = {start / 1000:.3f}\n            xmax = {end / 1000:.3f}\n"
        f'            text = "{text.replace(chr(34), chr(34) * 2)}"\n'
        for n, (start, end, text) in enumerate(intervals, start=1)
    )


def _filled(readable_text: Iterable[_Interval], end_ms: int) -> Iterator[_Interval]:
    """Yield the intervals with empty ones between them, because Praat allows no gaps and no overlaps."""
    at = 0
    for start, end, text in readable_text:
        start = max(start, at)
        if start >= end:
            continue
        if start > at:
            yield at, start, ""
        yield start, end, text
        at = end
    if at < end_ms:
        yield at, end_ms, ""
