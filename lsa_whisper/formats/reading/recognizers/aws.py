"""AWS Transcribe: items, which are words or punctuation, with the labels of their speakers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import first, rows, speaker_name, text_of, word_of
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has the transcripts and items of AWS Transcribe."""
    results = found.get("results")
    return isinstance(results, Mapping) and ("transcripts" in results or "items" in results)


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances that the items make up."""
    results = found["results"]
    source.language = text_of(results, "language_code") or None
    source.spoken = utterances_of(_words(results, place), source.language)
    if not source.spoken:
        whole = (text_of(each, "transcript") for each, _ in rows(results.get("transcripts"), f"{place}: transcript"))
        source.spoken = [SpokenText("", text, place=place) for text in whole if text]


def _words(results: Mapping[str, Any], place: str) -> Iterator[RecognizedWord]:
    speakers = _speakers(results.get("speaker_labels"), place)
    before: RecognizedWord | None = None
    for each, here in rows(results.get("items"), f"{place}: item"):
        text = text_of(first(each.get("alternatives"), here), "content")
        start, end = each.get("start_time"), each.get("end_time")
        channel = each.get("channel_label")
        speaker = speaker_name(each.get("speaker_label")) or speaker_name(channel) or speakers.get(str(start), "")
        if before and (start is None or not speaker):
            speaker = before.speaker
        if text:
            before = word_of(text, start, end, speaker, here, before)
            yield before


def _speakers(labels: Any, place: str) -> dict[str, str]:
    """Return the speaker of each word by its start; newer files have the label in the item itself."""
    segments = labels.get("segments") if isinstance(labels, Mapping) else None
    return {
        str(item.get("start_time")): speaker_name(item.get("speaker_label") or segment.get("speaker_label"))
        for segment, here in rows(segments, f"{place}: segment")
        for item, _ in rows(segment.get("items"), f"{here}, item")
    }
