"""Training windows as manifest rows, and validation of rows from other programs."""

from __future__ import annotations

import dataclasses
import re
import reprlib
from dataclasses import dataclass
from typing import Any

from lsa_whisper.errors import ManifestError
from lsa_whisper.manifest.word_times import verify_word_times
from lsa_whisper.system import plain_json
from lsa_whisper.timespan import TimeSpan

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
        word_times: The spoken words and their times from ``%wor`` (:mod:`lsa_whisper.manifest.word_times`); empty
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
            return f"{name!r} must be text, not {_short_repr(row[name])}"
    for name in NUMBER_COLUMNS:
        value = row[name]
        if not plain_json.is_finite(value):
            return f"{name!r} must be a number of seconds, not {_short_repr(value)}"
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
        offset, duration = _short_repr(row["offset"]), _short_repr(row["duration"])
        return f"offset {offset} s and duration {duration} s are not a span of a recording"
    if row.get("split", "train") not in SPLITS:
        return f"split {_short_repr(row['split'])} is none of {', '.join(SPLITS)}"
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


def _short_repr(value: Any) -> str:
    """Return a short representation of an invalid value for a message."""
    return reprlib.repr(value)
