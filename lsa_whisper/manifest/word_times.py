"""The words of a window and their times, as one column of the manifest.

Three fields for each spoken word, separated by spaces: its start and its end in seconds from the window's start, and
the word; ``- -`` for a word whose time is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lsa_whisper.timespan import TimeSpan

_SECONDS = r"\d{1,7}(?:\.\d{1,6})?"
_COLUMN = re.compile(rf"(?:(?:{_SECONDS} {_SECONDS}|- -) \S+(?: (?=\S)|$))*")
_TIMES = re.compile(rf"{_SECONDS} {_SECONDS}|- -")


@dataclass(frozen=True, slots=True)
class WordTime:
    """A spoken word of a window.

    Attributes:
        text: the word.
        start_s: its start in seconds from the window's start; ``None`` if not known.
        end_s: its end.
    """

    text: str
    start_s: float | None = None
    end_s: float | None = None


def serialize_word_times(words: Iterable[tuple[str, TimeSpan | None]], window: TimeSpan) -> str:
    """Return the column for words with their times in the recording; empty if no time is known.

    A time outside the window is not known: the bullets of such an utterance are wrong.

    >>> serialize_word_times([("I", TimeSpan(1100, 1250)), ("see", None)], TimeSpan(1000, 2000))
    '0.10 0.25 I - - see'
    """
    fields, known = [], False
    for text, span in words:
        if not text or any(letter.isspace() for letter in text):
            continue
        inside = span is not None and window.start_ms <= span.start_ms < span.end_ms <= window.end_ms
        known = known or inside
        edges = (span.start_ms, span.end_ms) if span is not None and inside else ()
        fields += [*(f"{(edge - window.start_ms) / 1000:.2f}" for edge in edges)] or ["-", "-"]
        fields.append(text)
    return " ".join(fields) if known else ""


def parse_word_times(column: str) -> tuple[WordTime, ...]:
    """Return the words of a column.

    >>> parse_word_times("0.10 0.25 I - - see")[1]
    WordTime(text='see', start_s=None, end_s=None)

    Raises:
        ValueError: The column is malformed.
    """
    verify_word_times(column)
    fields = column.split(" ") if column else []
    return tuple(
        WordTime(text) if start == "-" else WordTime(text, float(start), float(end))
        for start, end, text in zip(fields[::3], fields[1::3], fields[2::3], strict=True)
    )


def verify_word_times(column: str) -> None:
    """Return if a column is well-formed; in one pass, because each row of a manifest is verified when it is read.

    Raises:
        ValueError: The column is malformed.
    """
    if _COLUMN.fullmatch(column):
        return
    fields = column.split(" ")
    if len(fields) % 3:
        raise ValueError("not three fields for each word: start, end, word")
    for start, end, text in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        if not _TIMES.fullmatch(f"{start} {end}"):
            raise ValueError(f"{start} {end} before {text!r} are not times in seconds")
    raise ValueError("a word is empty")
