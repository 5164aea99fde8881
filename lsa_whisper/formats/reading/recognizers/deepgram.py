"""Deepgram: the words of the best alternative of each channel, or those of its utterances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import first, rows, speaker_name, text_of, word_of
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of

_LISTS = ("channels", "utterances")


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has Deepgram's channels or utterances."""
    results = found.get("results")
    return isinstance(results, Mapping) and any(isinstance(results.get(name), list) for name in _LISTS)


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of all channels; with several channels, each is a speaker."""
    results = found["results"]
    channels = list(rows(results.get("channels"), f"{place}: channel"))
    for number, (channel, here) in enumerate(channels):
        source.language = source.language or text_of(channel, "detected_language") or None
        best = first(channel.get("alternatives"), f"{here}, alternative")
        name = f"channel {number + 1}" if len(channels) > 1 else ""
        spoken = utterances_of(_words(best, name, here), source.language) or list(_sentences(best, name, here))
        text = text_of(best, "transcript")
        source.spoken += spoken or ([SpokenText(name, text, place=here)] if text else [])
    if not source.spoken:
        source.spoken = list(_utterances(results, place))


def _utterances(results: Mapping[str, Any], place: str) -> Iterator[SpokenText]:
    for each, here in rows(results.get("utterances"), f"{place}: utterance"):
        speaker, text = speaker_name(each.get("speaker")), text_of(each, "transcript")
        words = tuple((word.text, word.span) for word in _words(each, speaker, here))
        timed = words if len(words) == len(text.split()) else ()
        if text:
            yield SpokenText(
                speaker, text, span_of_seconds(each.get("start"), each.get("end"), here), timed, place=here
            )


def _sentences(best: Mapping[str, Any], name: str, place: str) -> Iterator[SpokenText]:
    """Yield the sentences of paragraphs, which have times where the words are left out."""
    paragraphs = best.get("paragraphs")
    listed = paragraphs.get("paragraphs") if isinstance(paragraphs, Mapping) else None
    for paragraph, here in rows(listed, f"{place}, paragraph"):
        speaker = name or speaker_name(paragraph.get("speaker"))
        for each, inner in rows(paragraph.get("sentences"), f"{here}, sentence"):
            if text := text_of(each, "text"):
                yield SpokenText(speaker, text, span_of_seconds(each.get("start"), each.get("end"), inner), place=inner)


def _words(best: Mapping[str, Any], name: str, place: str) -> Iterator[RecognizedWord]:
    before: RecognizedWord | None = None
    for each, here in rows(best.get("words"), f"{place}, word"):
        text = text_of(each, "punctuated_word", "word")
        speaker = speaker_name(each.get("speaker")) or (before.speaker if before else "")
        if text:
            before = word_of(text, each.get("start"), each.get("end"), name or speaker, here, before)
            yield before
