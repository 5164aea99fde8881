"""Azure Speech: batch transcription, fast transcription, and the detailed result of one utterance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import (
    field_of,
    first,
    rows,
    scaled,
    seconds_of,
    speaker_name,
    text_of,
    word_of,
)
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.formats.reading.timed_words import RecognizedWord

_TICK_S = 1e-7
_LISTS = ("recognizedPhrases", "phrases")
_COMBINED = ("combinedRecognizedPhrases", "combinedPhrases")


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has Azure's phrases, or is the result of one utterance."""
    return any(isinstance(found.get(name), list) for name in _LISTS) or ("NBest" in found or "DisplayText" in found)


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add each phrase as recognized; with several channels, each is a speaker."""
    listed = field_of(found, *_LISTS)
    phrases = list(rows(listed if listed is not None else [found], f"{place}: phrase"))
    channels = {phrase.get("channel") for phrase, _ in phrases}
    for phrase, here in phrases:
        source.language = source.language or text_of(phrase, "locale") or None
        best = first(field_of(phrase, "nBest", "NBest"), here) or phrase
        text = text_of(best, "display", "Display", "text", "DisplayText", "lexical", "Lexical") or text_of(
            phrase, "DisplayText"
        )
        words = list(_words(best, here))
        channel = f"channel {phrase.get('channel')}" if len(channels) > 1 else ""
        speaker = speaker_name(field_of(phrase, "speaker", "Speaker")) or channel
        complete = len(words) == len(text.split())
        timed = tuple((one.text, one.span if one.span.duration_ms else None) for one in words) if complete else ()
        text = text or " ".join(one.text for one in words)
        if text:
            source.spoken.append(SpokenText(speaker, text, _span(phrase, here) or _span(best, here), timed, place=here))
    if not source.spoken:
        whole = (text_of(each, "display", "text") for each, _ in rows(field_of(found, *_COMBINED), f"{place}: phrase"))
        source.spoken = [SpokenText("", text, place=place) for text in whole if text]


def _words(best: Mapping[str, Any], place: str) -> Iterator[RecognizedWord]:
    before: RecognizedWord | None = None
    for each, here in rows(field_of(best, "displayWords", "DisplayWords", "words", "Words"), f"{place}, word"):
        text = text_of(each, "displayText", "DisplayText", "word", "Word", "text")
        start, end = _times(each)
        if text:
            before = word_of(text, start, end, "", here, before)
            yield before


def _span(row: Mapping[str, Any], place: str) -> Any:
    start, end = _times(row)
    return span_of_seconds(start, end, place)


def _times(row: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return start and end in seconds: from ticks of 100 ns, milliseconds, or ``PT0.5S``."""
    for names, unit in (
        (("offsetInTicks", "durationInTicks"), _TICK_S),
        (("offsetMilliseconds", "durationMilliseconds"), 0.001),
        (("Offset", "Duration"), _TICK_S),
        (("offset", "duration"), 1.0),
    ):
        start, length = (seconds_of(row.get(name)) for name in names)
        if start is not None:
            start, length = scaled(start, unit), scaled(length, unit)
            numbers = isinstance(start, int | float) and isinstance(length, int | float)
            return start, start + length if numbers else length
    return None, None
