"""The fields of a recognizer's JSON, checked: what has the wrong form is a sentence with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.source import span_of_seconds
from lsa_whisper.formats.reading.timed_words import RecognizedWord
from lsa_whisper.timespan import TimeSpan

_DURATION = re.compile(r"PT(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?")


def rows(value: Any, place: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the objects of a list, each with its place; nothing for any other value.

    Raises:
        FormatError: An entry is not an object.
    """
    for number, entry in enumerate(value if isinstance(value, list) else (), start=1):
        here = f"{place} {number}"
        if not isinstance(entry, Mapping):
            raise FormatError(f"{here}: is not an object; write the file again")
        yield entry, here


def first(value: Any, place: str) -> Mapping[str, Any]:
    """Return the first object of a list, such as the best alternative; an empty one if there is none."""
    return next((row for row, _ in rows(value, place)), {})


def text_of(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of the fields ``names`` that is text, stripped; an empty text if none is."""
    return next((row[name].strip() for name in names if isinstance(row.get(name), str)), "")


def field_of(row: Mapping[str, Any], *names: str) -> Any:
    """Return the first of the fields ``names`` that is there, or ``None``."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def seconds_of(value: Any) -> Any:
    """Return a time as seconds: ``"0.5s"``, ``"PT0.5S"`` and ``{"seconds": 0, "nanos": 500000000}`` are 0.5.

    >>> seconds_of("0.500s"), seconds_of("PT1M0.5S"), seconds_of({"seconds": "1", "nanos": 500000000}), seconds_of(2.5)
    (0.5, 60.5, 1.5, 2.5)
    """
    if isinstance(value, Mapping):
        seconds, nanos = value.get("seconds", 0), value.get("nanos", 0)
        return float(seconds) + nanos / 1e9 if re.fullmatch(r"\d{1,9}", str(seconds)) and _is_number(nanos) else value
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"\d+(?:\.\d+)?s", value):
        return float(value[:-1])
    if match := _DURATION.fullmatch(value):
        return sum(float(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1), strict=True))
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def scaled(value: Any, factor: float) -> Any:
    """Return a number times ``factor``; anything else as it is, for :func:`span_of_seconds` to refuse."""
    return value * factor if _is_number(value) else value


class ListedWord(NamedTuple):
    """A word as a file lists it; one that ``continues`` has the speaker of the word before it."""

    text: str
    start: Any
    end: Any
    speaker: str
    place: str
    continues: bool = False


def words_of(listed: Iterable[ListedWord]) -> Iterator[RecognizedWord]:
    """Yield the words that have a text; one without times stands, without duration, at the end of the one before it."""
    before: RecognizedWord | None = None
    for word in listed:
        if word.text:
            at = before.span.end_ms if before else 0
            span = span_of_seconds(word.start, word.end, word.place) or TimeSpan(at, at)
            speaker = before.speaker if before and word.continues else word.speaker
            before = RecognizedWord(word.text.strip().replace(" ", "_"), span, speaker, word.place)
            yield before


def around(words: Iterable[tuple[str, TimeSpan | None]]) -> TimeSpan | None:
    """Return the time from the first word that has one to the last, or ``None``."""
    spans = [span for _, span in words if span]
    return spans[0] | spans[-1] if spans else None


def speaker_name(value: Any) -> str:
    """Return a speaker's label as text: numbers become ``speaker 0``, nothing stays nothing.

    >>> speaker_name(0), speaker_name("spk_0"), speaker_name(None)
    ('speaker 0', 'spk_0', '')
    """
    if isinstance(value, bool) or value is None:
        return ""
    return f"speaker {value}" if isinstance(value, int) else value if isinstance(value, str) else ""
