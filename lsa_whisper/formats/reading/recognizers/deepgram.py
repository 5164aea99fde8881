"""Deepgram: the words of the best alternative of each channel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import first, rows, speaker_name, text_of, word_of
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has Deepgram's channels."""
    results = found.get("results")
    return isinstance(results, Mapping) and isinstance(results.get("channels"), list)


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of all channels; with several channels, each is a speaker."""
    channels = list(rows(found["results"]["channels"], f"{place}: channel"))
    for number, (channel, here) in enumerate(channels):
        source.language = source.language or text_of(channel, "detected_language") or None
        best = first(channel.get("alternatives"), f"{here}, alternative")
        name = f"channel {number + 1}" if len(channels) > 1 else ""
        spoken = utterances_of(_words(best, name, here), source.language)
        text = text_of(best, "transcript")
        source.spoken += spoken or ([SpokenText(name, text, place=here)] if text else [])


def _words(best: Mapping[str, Any], name: str, place: str) -> Iterator[RecognizedWord]:
    before: RecognizedWord | None = None
    for each, here in rows(best.get("words"), f"{place}, word"):
        text = text_of(each, "punctuated_word", "word")
        speaker = speaker_name(each.get("speaker")) or (before.speaker if before else "")
        if text:
            before = word_of(text, each.get("start"), each.get("end"), name or speaker, here, before)
            yield before
