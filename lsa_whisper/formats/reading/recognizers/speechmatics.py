"""Speechmatics: results that are words or punctuation, each with its alternatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import first, rows, speaker_name, text_of, word_of
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of

_UNKNOWN = "UU"


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has results with a type and a start, as Speechmatics writes them."""
    results = found.get("results")
    return isinstance(results, list) and any(isinstance(each, Mapping) and "start_time" in each for each in results)


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances that the words make up."""
    metadata = found.get("metadata")
    settings = metadata.get("transcription_config") if isinstance(metadata, Mapping) else None
    source.language = text_of(settings, "language") or None if isinstance(settings, Mapping) else None
    source.spoken = utterances_of(_words(found, place), source.language)


def _words(found: Mapping[str, Any], place: str) -> Iterator[RecognizedWord]:
    before: RecognizedWord | None = None
    for each, here in rows(found["results"], f"{place}: result"):
        best = first(each.get("alternatives"), here)
        text = text_of(best, "content")
        speaker = speaker_name(best.get("speaker"))
        if before and each.get("type") == "punctuation":
            speaker = before.speaker
        if text:
            speaker = "" if speaker == _UNKNOWN else speaker
            before = word_of(text, each.get("start_time"), each.get("end_time"), speaker, here, before)
            yield before
