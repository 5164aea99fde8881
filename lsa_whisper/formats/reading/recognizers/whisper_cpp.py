"""whisper.cpp (``-oj``, and ``-ojf`` with the times of tokens), which runs the models that ``export`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import rows, scaled, speaker_name, text_of
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of
from lsa_whisper.timespan import TimeSpan

_UNKNOWN = "?"
"""A speaker who is on both channels."""


def matches(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has the segments of whisper.cpp."""
    return isinstance(document.get("transcription"), list)


def read(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the segments; where most are one word (``-ml 1``), the utterances that the words make up."""
    result = document.get("result")
    source.language = text_of(result, "language") or None if isinstance(result, Mapping) else None
    source.spoken = segments = _segments(document, place)
    single = [segment for segment in segments if segment.span and len(segment.text.split()) == 1]
    turns = sum(segment.opens for segment in segments)
    if turns:
        source.notes.append(f"places where another speaker begins, whom the file does not name: {turns}")
    if len(segments) > 2 and 10 * len(single) >= 7 * len(segments):
        words = (RecognizedWord(one.text, one.span or TimeSpan(0, 0), one.speaker, one.place) for one in segments)
        source.spoken = utterances_of(words, source.language)


def _segments(document: Mapping[str, Any], place: str) -> list[SpokenText]:
    found: list[SpokenText] = []
    turns, entries = False, list(rows(document["transcription"], f"{place}: segment"))
    beginnings = [str(row.get("text", ""))[:1] for row, _ in entries]
    spaced = 2 * beginnings.count(" ") > len(beginnings)
    for (segment, here), beginning in zip(entries, beginnings, strict=True):
        text = text_of(segment, "text").replace("[SPEAKER_TURN]", "").strip()
        words = tuple(_words(segment, here))
        words = words if len(words) == len(text.split()) else ()
        speaker = speaker_name(segment.get("speaker")).removeprefix(_UNKNOWN)
        own = SpokenText(speaker, text, _span(segment, here), words, place=here, opens=turns)
        if found and spaced and beginning.strip(" [(*♪") and (found[-1].speaker, False) == (speaker, turns):
            found[-1], own = _continued(found[-1], own)
        found += [own] if own.text else []
        turns = bool(segment.get("speaker_turn_next"))
    return found


def _continued(last: SpokenText, own: SpokenText) -> tuple[SpokenText, SpokenText]:
    """Return two segments of which the second began within a word, with that word in the first."""
    rest, _, text = own.text.partition(" ")
    words = last.words
    if words and own.words:
        (word, at), (more, until) = words[-1], own.words[0]
        words = (*words[:-1], (word + more, at | until if at and until else at))
    span = last.span | own.span if last.span and own.span and not text else last.span
    return replace(last, text=last.text + rest, span=span, words=words), replace(own, text=text, words=own.words[1:])


def _words(segment: Mapping[str, Any], place: str) -> Iterator[tuple[str, TimeSpan | None]]:
    """Yield the words that tokens make up: a token with a space before it begins one."""
    text, span = "", None
    for token, here in rows(segment.get("tokens"), f"{place}, token"):
        piece = token.get("text")
        if not isinstance(piece, str) or piece.startswith("[_"):
            continue
        if piece.startswith(" ") and text:
            yield text, span
            text, span = "", None
        at = _span(token, here)
        text, span = text + piece.strip(), span | at if span and at else span or at
    if text:
        yield text, span


def _span(row: Mapping[str, Any], place: str) -> TimeSpan | None:
    offsets, clocks = row.get("offsets"), row.get("timestamps")
    if not isinstance(offsets, Mapping):
        return span_of_seconds(clocks.get("from"), clocks.get("to"), place) if isinstance(clocks, Mapping) else None
    return span_of_seconds(scaled(offsets.get("from"), 0.001), scaled(offsets.get("to"), 0.001), place)
