"""Gladia: the utterances of the transcription, each with its speaker and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import rows, speaker_name, text_of
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.timespan import TimeSpan


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has Gladia's transcription."""
    return bool(_transcription(found))


def _transcription(found: Mapping[str, Any]) -> Mapping[str, Any]:
    holders = (found.get("result"), found.get("payload"), found)
    inside = (each.get("transcription") for each in holders if isinstance(each, Mapping))
    known = (each for each in inside if isinstance(each, Mapping) and {"utterances", "full_transcript"} & each.keys())
    return next(known, {})


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add each utterance as recognized."""
    transcription = _transcription(found)
    utterances = list(rows(transcription.get("utterances"), f"{place}: utterance"))
    languages = transcription.get("languages")
    named = [each for each in languages if isinstance(each, str)] if isinstance(languages, list) else []
    source.language = next((text for each, _ in utterances if (text := text_of(each, "language"))), None)
    source.language = (named[0] if named else source.language) or None
    for each, here in utterances:
        words = tuple(_words(each, here))
        text = text_of(each, "text") or " ".join(word for word, _ in words)
        if text:
            span = span_of_seconds(each.get("start"), each.get("end"), here)
            complete = words if len(words) == len(text.split()) else ()
            source.spoken.append(SpokenText(speaker_name(each.get("speaker")), text, span, complete, place=here))
    whole = text_of(transcription, "full_transcript")
    if whole and not source.spoken:
        source.spoken = [SpokenText("", whole, place=place)]


def _words(utterance: Mapping[str, Any], place: str) -> Iterator[tuple[str, TimeSpan | None]]:
    for each, here in rows(utterance.get("words"), f"{place}, word"):
        text = text_of(each, "word")
        if text:
            yield text.replace(" ", "_"), span_of_seconds(each.get("start"), each.get("end"), here)
