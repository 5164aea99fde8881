"""Training windows as manifest rows, and validation of rows from other programs.

The words of a window and their times are one column: three fields for each spoken word, separated by spaces: its start
and its end in seconds from the window's start, and the word; ``- -`` for a word whose time is not known.
"""

from __future__ import annotations

import dataclasses
import re
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lsa_whisper.errors import ManifestError
from lsa_whisper.system import plain_json
from lsa_whisper.timespan import TimeSpan

_SECONDS = r"\d{1,7}(?:\.\d{1,6})?"
_COLUMN = re.compile(rf"(?:(?:{_SECONDS} {_SECONDS}|- -) \S+(?: (?=\S)|$))*")
_TIMES = re.compile(rf"{_SECONDS} {_SECONDS}|- -")


@dataclass(frozen=True, slots=True)
class WordTime:
    """A spoken word of a window.

    Attributes:
        text: The word.
        start_s: Its start in seconds from the window's start; ``None`` if not known.
        end_s: Its end.
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
    fields, has_times = [], False
    for text, span in words:
        if not text or any(letter.isspace() for letter in text):
            continue
        inside = span is not None and window.start_ms <= span.start_ms < span.end_ms <= window.end_ms
        has_times = has_times or inside
        edges = (span.start_ms, span.end_ms) if span is not None and inside else ()
        fields += [*(f"{(edge - window.start_ms) / 1000:.2f}" for edge in edges)] or ["-", "-"]
        fields.append(text)
    return " ".join(fields) if has_times else ""


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


SPLITS = ("train", "dev", "test")
TIMESTAMP = re.compile(r"<\|(\d+\.\d\d)\|>")
"""Whisper's timestamp tokens in a text, in seconds from the window's start."""
MAX_RECORDING_S = 1e6
"""Maximum plausible duration of a recording in seconds (eleven days)."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A training window: a span of a recording, at most one context long, and its label.

    Attributes:
        audio_filepath: Absolute after reading; :mod:`lsa_whisper.manifest` says what is written.
        offset: Start of the window in the recording, in seconds.
        duration: Duration of the window, in seconds.
        text: The labels; may hold Whisper's timestamp tokens (``<|0.00|>``), relative to ``offset``.
        speaker: Speaker ids in order of appearance, joined by ``+``.
        lang: Whisper's language code, such as ``en``.
        corpus: The corpus card's name, or the folder's.
        session: The name of its transcript.
        split: ``train``, ``dev`` or ``test``.
        labels: Label style and version, such as ``chat/4``.
        prompt: The preceding text, a decoder prompt without loss; often empty.
        spliced: The classes of disfluency that were spliced into the window, separated by spaces; empty for speech as
            it was recorded.
        word_times: The spoken words and their times from ``%wor`` (:mod:`lsa_whisper.manifest.segment`); empty
            where the transcript has none.
    """

    audio_filepath: str
    offset: float
    duration: float
    text: str
    speaker: str = ""
    lang: str = "en"
    corpus: str = ""
    session: str = ""
    split: str = "train"
    labels: str = "chat/4"
    prompt: str = ""
    spliced: str = ""
    word_times: str = ""

    @property
    def span(self) -> TimeSpan:
        """The window's span in its recording.

        >>> Segment("a.wav", 1.5, 2.25, "yes.").span
        TimeSpan(start_ms=1500, end_ms=3750)
        """
        start_ms = round(self.offset * 1000)
        return TimeSpan(start_ms, start_ms + round(self.duration * 1000))


NUMBER_COLUMNS = ("offset", "duration")
"""The columns that hold seconds; all others hold text."""
MANIFEST_COLUMNS = tuple(field.name for field in dataclasses.fields(Segment))
TEXT_COLUMNS = tuple(name for name in MANIFEST_COLUMNS if name not in NUMBER_COLUMNS)
_REQUIRED = ("audio_filepath", "offset", "duration", "text")


def parse_row(line: str, *, place: str = "row") -> Segment:
    """Return the segment that one JSON ``line`` describes.

    >>> parse_row('{"audio_filepath": "a.wav", "offset": 1, "duration": 2.5, "text": "&-um no ."}').duration
    2.5

    Raises:
        ManifestError: The row is not a JSON object, or a value is missing or invalid; ``place`` starts the message.
    """
    try:
        row = plain_json.parse(line)
    except ValueError as error:
        reason = getattr(error, "msg", None) or error
        raise ManifestError(f"{place}: not a JSON object ({reason}); prepare the data again") from error
    if not isinstance(row, dict):
        raise ManifestError(f"{place}: a row must be a JSON object, not {type(row).__name__}")
    return segment_of(row, place)


def segment_of(row: dict[str, Any], place: str) -> Segment:
    """Return the segment in the columns of ``row``; raises as :func:`parse_row` does."""
    problem = _problem(row)
    if problem:
        raise ManifestError(f"{place}: {problem}")
    texts = {name: row[name] for name in TEXT_COLUMNS if name in row}
    return Segment(offset=float(row["offset"]), duration=float(row["duration"]), **texts)


def _problem(row: dict[str, Any]) -> str | None:
    """Return what is wrong with ``row``, or ``None``."""
    for name in _REQUIRED:
        if name not in row:
            return f"{name!r} is missing; a row needs {', '.join(_REQUIRED)}"
    for name in TEXT_COLUMNS:
        if name in row and not isinstance(row[name], str):
            return f"{name!r} must be text, not {reprlib.repr(row[name])}"
    for name in NUMBER_COLUMNS:
        value = row[name]
        if not plain_json.is_finite(value):
            return f"{name!r} must be a number of seconds, not {reprlib.repr(value)}"
    try:
        verify_word_times(row.get("word_times", ""))
    except ValueError as error:
        return f"'word_times': {error}"
    for name in ("text", "prompt"):
        if not is_unicode(row.get(name, "")):
            return f"{name!r} contains a lone surrogate (half a character); correct the text"
    if not row["audio_filepath"]:
        return "'audio_filepath' is empty; name a recording"
    if not (0 <= row["offset"] <= MAX_RECORDING_S and 0 < row["duration"] <= MAX_RECORDING_S):
        offset, duration = reprlib.repr(row["offset"]), reprlib.repr(row["duration"])
        return f"offset {offset} s and duration {duration} s are not a span of a recording"
    if row.get("split", "train") not in SPLITS:
        return f"split {reprlib.repr(row['split'])} is none of {', '.join(SPLITS)}"
    return None


def is_unicode(text: str) -> bool:
    r"""Return whether UTF-8 can encode ``text``; file names that are not UTF-8 have lone surrogates.

    >>> is_unicode("café"), is_unicode("caf\udce9")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
