"""Recognizers and meeting notes that list turns, each with its speaker, and words or sentences in it.

Gladia lists them as ``utterances`` of its transcription, and in the older interface as ``prediction``; Sonix as
``transcript``, Fireflies as ``sentences``, tl;dv as ``data``, AWS (Call Analytics) as ``Transcript``, Happy Scribe and
others as a list alone. Azure Video Indexer has the transcript of a video, and the times of each turn inside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import around, field_of, first, rows, scaled, speaker_name, text_of
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.timespan import TimeSpan

_HOLDERS = ("result", "payload", "data", "transcription", "transcript", "videos", "insights")
"""The fields that hold the list, one within the other."""
_LISTS = ("prediction", "sentences", "transcript", "data", "Transcript")
_TEXTS = ("text", "transcription", "sentence", "Content")
_STARTS = ("start", "time_begin", "start_time", "startTime", "data_start")
_ENDS = ("end", "time_end", "end_time", "endTime", "data_end")
_OWN = frozenset(("sentence", *_STARTS[1:]))
"""Fields that tell these turns from the segments of Whisper's programs."""
_UNKNOWN = "not_activated"
"""The speaker in the older interface of Gladia, without diarization."""


def matches(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has a list of turns, or a transcription of Gladia's without one."""
    return "audio_duration" not in document and bool(_turns(document) or _transcription(document))  # AssemblyAI


def are_turns(items: list[Any]) -> bool:
    """Return whether a list has turns with fields that no segment of Whisper's programs has."""
    return any(not _OWN.isdisjoint(part) for item in items if _is_turn(item) for part in (item, *_parts(item)))


def _turns(document: Mapping[str, Any], names: tuple[str, ...] = _LISTS) -> list[Any]:
    for name in names:
        if isinstance(turns := document.get(name), list) and any(map(_is_turn, turns)):
            return turns
    for name in _HOLDERS:
        inner = document.get(name)
        inner = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
        names = (*_LISTS, "utterances") if name == "transcription" else _LISTS
        if isinstance(inner, Mapping) and (turns := _turns(inner, names)):
            return turns
    return []


def _transcription(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return Gladia's transcription, which has the whole text; an empty object if there is none."""
    if isinstance(document.get("full_transcript"), str):
        return document
    inner = (document.get(name) for name in _HOLDERS)
    return next((full for holder in inner if isinstance(holder, Mapping) and (full := _transcription(holder))), {})


def _is_turn(row: Any) -> bool:
    if not isinstance(row, Mapping) or not (text_of(row, *_TEXTS) or _parts(row)):
        return False
    return any(name in row for name in ("speaker", "speaker_name", "instances", "BeginOffsetMillis", *_STARTS))


def _parts(turn: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    words = turn.get("words")
    return [word for word in words if isinstance(word, Mapping)] if isinstance(words, list) else []


def read(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add each turn as recognized."""
    turns, whole = list(rows(_turns(document), f"{place}: utterance")), _transcription(document)
    languages = whole.get("languages")
    codes = [language for language in languages if isinstance(language, str)] if isinstance(languages, list) else []
    by_turn = (text_of(turn, "language") for turn, _ in turns)
    own = text_of(document, "LanguageCode")
    source.language = next(filter(None, (*codes, source.language, own, *by_turn)), None)
    for turn, here in turns:
        words = tuple(_words(turn, here))
        text = text_of(turn, *_TEXTS) or " ".join(word for word, _ in words)
        if text:
            complete = words if len(words) == len(text.split()) else ()
            span = _span(turn, here) or around(complete)
            source.spoken.append(SpokenText(_speaker(turn), text, span, complete, place=here))
    if not source.spoken and (text := text_of(whole, "full_transcript")):
        source.spoken = [SpokenText("", text, place=place)]


def _words(turn: Mapping[str, Any], place: str) -> Iterator[tuple[str, TimeSpan | None]]:
    for word, here in rows(turn.get("words"), f"{place}, word"):
        text = text_of(word, "word", "text")
        if text:
            yield text.replace(" ", "_"), _span(word, here)


def _span(row: Mapping[str, Any], place: str) -> TimeSpan | None:
    row = first(row.get("instances"), place) or row
    start, end = (scaled(row.get(f"{name}OffsetMillis"), 0.001) for name in ("Begin", "End"))
    return span_of_seconds(field_of(row, *_STARTS) if start is None else start, field_of(row, *_ENDS) or end, place)


def _speaker(turn: Mapping[str, Any]) -> str:
    speaker = field_of(turn, "speaker_name", "speaker", "ParticipantRole", "speakerId")
    if isinstance(speaker, Mapping):
        return text_of(speaker, "display_name", "name")
    return "" if speaker == _UNKNOWN else speaker_name(speaker)
