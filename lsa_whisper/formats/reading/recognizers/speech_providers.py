"""The JSON of providers of speech recognition: Deepgram, Rev.ai and Speechmatics.

Deepgram has the words of the best alternative of each channel, or those of its utterances; Rev.ai has monologues of
elements, and Speechmatics results, which are words or punctuation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import (
    ListedWord,
    field_of,
    first,
    rows,
    speaker_name,
    text_of,
    words_of,
)
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.formats.reading.timed_words import utterances_of

_DEEPGRAM_LISTS = ("channels", "utterances")


def is_deepgram(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has Deepgram's channels or utterances."""
    results = document.get("results")
    return isinstance(results, Mapping) and any(isinstance(results.get(name), list) for name in _DEEPGRAM_LISTS)


def read_deepgram(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of all channels; with several channels, each is a speaker."""
    results = document["results"]
    channels = list(rows(results.get("channels"), f"{place}: channel"))
    for number, (channel, here) in enumerate(channels):
        source.language = source.language or text_of(channel, "detected_language") or None
        best = first(channel.get("alternatives"), f"{here}, alternative")
        name = f"channel {number + 1}" if len(channels) > 1 else ""
        words, text = words_of(_deepgram_words(best, name, here)), text_of(best, "transcript")
        source.full_text += f" {text}"
        spoken = utterances_of(words, source.language) or [*_deepgram_sentences(best, name, here)]
        source.spoken += spoken or ([SpokenText(name, text, place=here)] if text else [])
    if not source.spoken:
        source.spoken = list(_deepgram_utterances(results, place))


def _deepgram_utterances(results: Mapping[str, Any], place: str) -> Iterator[SpokenText]:
    for utterance, here in rows(results.get("utterances"), f"{place}: utterance"):
        speaker, text = speaker_name(utterance.get("speaker")), text_of(utterance, "transcript")
        words = tuple((word.text, word.span) for word in words_of(_deepgram_words(utterance, speaker, here)))
        times = words if len(words) == len(text.split()) else ()
        if text:
            span = span_of_seconds(utterance.get("start"), utterance.get("end"), here)
            yield SpokenText(speaker, text, span, times, place=here)


def _deepgram_sentences(best: Mapping[str, Any], name: str, place: str) -> Iterator[SpokenText]:
    """Yield the sentences of paragraphs, which have times where the words are left out."""
    paragraphs = best.get("paragraphs")
    entries = paragraphs.get("paragraphs") if isinstance(paragraphs, Mapping) else None
    for paragraph, here in rows(entries, f"{place}, paragraph"):
        speaker = name or speaker_name(paragraph.get("speaker"))
        for sentence, inner in rows(paragraph.get("sentences"), f"{here}, sentence"):
            if text := text_of(sentence, "text"):
                yield SpokenText(
                    speaker, text, span_of_seconds(sentence.get("start"), sentence.get("end"), inner), place=inner
                )


def _deepgram_words(best: Mapping[str, Any], name: str, place: str) -> Iterator[ListedWord]:
    words = list(rows(best.get("words"), f"{place}, word"))
    several = len({word.get("speaker") for word, _ in words} - {None}) > 1
    for word, here in words:
        text = text_of(word, "punctuated_word", "word")
        own = speaker_name(word.get("speaker")) if several or not name else ""
        speaker = f"{name} {own}".strip()
        yield ListedWord(text, word.get("start"), word.get("end"), speaker, here, continues=not own)


def is_rev(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has Rev's monologues."""
    return isinstance(document.get("monologues"), list)


def read_rev(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of each monologue."""
    names = {row.get("id"): text_of(row, "name") for row, _ in rows(document.get("speakers"), f"{place}: speaker")}
    for monologue, here in rows(document["monologues"], f"{place}: monologue"):
        number = monologue.get("speaker")
        name = names.get(number) if isinstance(number, int | str) else None
        source.spoken += utterances_of(words_of(_rev_words(monologue, name or speaker_name(number), here)))


def _rev_words(monologue: Mapping[str, Any], speaker: str, place: str) -> Iterator[ListedWord]:
    for element, here in rows(monologue.get("elements"), f"{place}, element"):
        start, end = field_of(element, "ts", "timestamp"), field_of(element, "end_ts", "end_timestamp")
        yield ListedWord(text_of(element, "value"), start, end, speaker, here)


_UNKNOWN = "UU"


def is_speechmatics(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has results with a type and a start, as Speechmatics writes them."""
    results = document.get("results")
    return isinstance(results, list) and any(isinstance(item, Mapping) and "start_time" in item for item in results)


def read_speechmatics(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances that the words make up."""
    metadata = document.get("metadata")
    settings = metadata.get("transcription_config") if isinstance(metadata, Mapping) else None
    source.language = text_of(settings, "language") or None if isinstance(settings, Mapping) else None
    source.spoken = utterances_of(words_of(_speechmatics_words(document, place)), source.language)


def _speechmatics_words(document: Mapping[str, Any], place: str) -> Iterator[ListedWord]:
    for result, here in rows(document["results"], f"{place}: result"):
        own = first(result.get("alternatives"), here).get("speaker")
        speaker, is_mark = "" if own == _UNKNOWN else speaker_name(own), result.get("type") == "punctuation"
        for part, inner in list(rows(result.get("spoken_form"), here)) or [(result, here)]:  # that of an amount, a date
            text = text_of(first(part.get("alternatives"), inner), "content")
            yield ListedWord(text, part.get("start_time"), part.get("end_time"), speaker, inner, continues=is_mark)
