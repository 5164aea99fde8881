"""The JSON of the large cloud platforms: AWS Transcribe, Azure Speech, Google Speech-to-Text and IBM Watson.

AWS lists items, which are words or punctuation, with the labels of their speakers. Azure has phrases: of a batch, of
fast transcription, or the detailed result of one utterance. The results of Watson have nearly the form of Google's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import (
    ListedWord,
    field_of,
    first,
    rows,
    scaled,
    seconds_of,
    speaker_name,
    text_of,
    words_of,
)
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.formats.reading.timed_words import utterances_of


def is_aws(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has the transcripts and items of AWS Transcribe."""
    results = document.get("results")
    return isinstance(results, Mapping) and ("transcripts" in results or "items" in results)


def read_aws(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances that the items make up."""
    results = document["results"]
    source.language = text_of(results, "language_code") or None
    source.spoken = utterances_of(words_of(_aws_words(results, place)), source.language)
    whole = [text_of(row, "transcript") for row, _ in rows(results.get("transcripts"), f"{place}: transcript")]
    source.full_text = " ".join(whole)
    source.spoken = source.spoken or [SpokenText("", text, place=place) for text in whole if text]


def _aws_words(results: Mapping[str, Any], place: str) -> Iterator[ListedWord]:
    speakers = _aws_speakers(results.get("speaker_labels"), place)
    for item, here in rows(results.get("items"), f"{place}: item"):
        text = text_of(first(item.get("alternatives"), here), "content")
        start, end = item.get("start_time"), item.get("end_time")
        channel = item.get("channel_label")
        speaker = speaker_name(item.get("speaker_label")) or speaker_name(channel) or speakers.get(str(start), "")
        yield ListedWord(text, start, end, speaker, here, continues=start is None or not speaker)


def _aws_speakers(labels: Any, place: str) -> dict[str, str]:
    """Return the speaker of each word by its start; newer files have the label in the item itself."""
    segments = labels.get("segments") if isinstance(labels, Mapping) else None
    return {
        str(item.get("start_time")): speaker_name(item.get("speaker_label") or segment.get("speaker_label"))
        for segment, here in rows(segments, f"{place}: segment")
        for item, _ in rows(segment.get("items"), f"{here}, item")
    }


_TICK_S = 1e-7
_AZURE_LISTS = ("recognizedPhrases", "phrases")
_AZURE_COMBINED = ("combinedRecognizedPhrases", "combinedPhrases")


def is_azure(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has Azure's phrases, or is the result of one utterance."""
    return (
        any(isinstance(document.get(name), list) for name in _AZURE_LISTS)
        or "NBest" in document
        or "DisplayText" in document
    )


def read_azure(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add each phrase as recognized; with several channels, each is a speaker."""
    entries = field_of(document, *_AZURE_LISTS)
    phrases = list(rows(entries if entries is not None else [document], f"{place}: phrase"))
    channels = {phrase.get("channel") for phrase, _ in phrases}
    for phrase, here in phrases:
        source.language = source.language or text_of(phrase, "locale") or None
        best = first(field_of(phrase, "nBest", "NBest"), here) or phrase
        text = text_of(best, "display", "Display", "text", "DisplayText", "lexical", "Lexical")
        text = text or text_of(phrase, "DisplayText")
        words = list(words_of(_azure_words(best, here)))
        channel = f"channel {phrase.get('channel')}" if len(channels) > 1 else ""
        speaker = speaker_name(field_of(phrase, "speaker", "Speaker")) or channel
        complete = len(words) == len(text.split())
        times = tuple((word.text, word.span if word.span.duration_ms else None) for word in words) if complete else ()
        text = text or " ".join(word.text for word in words)
        if text:
            span = _azure_span(phrase, here) or _azure_span(best, here)
            source.spoken.append(SpokenText(speaker, text, span, times, place=here))
    if not source.spoken:
        combined = rows(field_of(document, *_AZURE_COMBINED), f"{place}: phrase")
        whole = (text_of(row, "display", "text") for row, _ in combined)
        source.spoken = [SpokenText("", text, place=place) for text in whole if text]


def _azure_words(best: Mapping[str, Any], place: str) -> Iterator[ListedWord]:
    for word, here in rows(field_of(best, "displayWords", "DisplayWords", "words", "Words"), f"{place}, word"):
        text = text_of(word, "displayText", "DisplayText", "word", "Word", "text")
        yield ListedWord(text, *_azure_times(word), "", here)


def _azure_span(row: Mapping[str, Any], place: str) -> Any:
    return span_of_seconds(*_azure_times(row), place)


def _azure_times(row: Mapping[str, Any]) -> tuple[Any, Any]:
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


_HESITATION = "%HESITATION"
"""What Watson writes for a filled pause."""


def is_google(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has a list of results with alternatives."""
    results = _google_results(document)
    return isinstance(results, list) and any(isinstance(item, Mapping) and "alternatives" in item for item in results)


def _google_results(document: Mapping[str, Any]) -> Any:
    response = document.get("response")
    results = (response if isinstance(response, Mapping) else document).get("results")
    if isinstance(results, Mapping) and len(results) == 1:  # of a batch of one file, by its address
        (inner,) = results.values()
        inner = inner.get("inlineResult", inner) if isinstance(inner, Mapping) else None
        transcript = inner.get("transcript") if isinstance(inner, Mapping) else None
        return transcript.get("results") if isinstance(transcript, Mapping) else None
    return results


def read_google(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of the best alternatives; with speakers, those of the last result, which has all words."""
    results = list(rows(_google_results(document), f"{place}: result"))
    best = [(first(result.get("alternatives"), here), here) for result, here in results]
    source.full_text = " ".join(text_of(choice, "transcript") for choice, _ in best).replace(_HESITATION, "uh")
    languages = (text_of(result, "languageCode", "language_code") for result, _ in results)
    source.language = next(filter(None, languages), None)
    labels = (
        (row.get("from"), row.get("speaker")) for row, _ in rows(document.get("speaker_labels"), f"{place}: label")
    )
    speakers = {start: speaker_name(speaker) for start, speaker in labels if isinstance(start, int | float)}
    channels = [field_of(result, "channelTag", "channel_tag") for result, _ in results]
    names = [f"channel {channel}" if len(set(channels)) > 1 and channel else "" for channel in channels]
    words = [
        list(words_of(_google_words(choice, here, speakers, name)))
        for (choice, here), name in zip(best, names, strict=True)
    ]
    named = [any(word.speaker for word in group) for group in words]
    if any(named[-1:]) and not any(named[:-1]):
        best, words = best[-1:], words[-1:]
    ends = (field_of(result, "resultEndTime", "result_end_time", "resultEndOffset") for result, _ in results)
    starts: dict[str, Any] = {}
    for (choice, here), group, name, end in zip(best, words, names, ends, strict=False):
        text, end = text_of(choice, "transcript"), seconds_of(end)
        # Without words, all that is known is where one ends.
        span = span_of_seconds(starts.get(name, 0.0), end, here) if end is not None else None
        source.spoken += utterances_of(group, source.language) or (
            [SpokenText(name, text, span, place=here)] if text else []
        )
        starts[name] = end if end is not None else starts.get(name, 0.0)


def _google_words(
    best: Mapping[str, Any], place: str, speakers: Mapping[Any, str], channel: str
) -> Iterator[ListedWord]:
    timestamps = best.get("timestamps")
    for number, word in enumerate(timestamps if isinstance(timestamps, list) else (), 1):  # Watson's [word, start, end]
        if isinstance(word, list) and len(word) == 3 and isinstance(word[0], str) and word[0].strip():
            text = "uh" if word[0] == _HESITATION else word[0].strip()
            speaker = speakers.get(word[1], "") if isinstance(word[1], int | float) else ""
            yield ListedWord(text, word[1], word[2], speaker, f"{place}, word {number}")
    for row, here in rows(best.get("words"), f"{place}, word"):
        text = text_of(row, "word").partition("|")[0]
        start = _google_time(field_of(row, "startTime", "start_time", "startOffset", "start_offset"))
        end = _google_time(field_of(row, "endTime", "end_time", "endOffset", "end_offset"))
        if end is not None and start is None:
            start = 0.0  # a field that is zero may be left out
        label = field_of(row, "speakerLabel", "speaker_label", "speakerTag", "speaker_tag") or None
        yield ListedWord(text, start, end, speaker_name(label) or channel, here)


def _google_time(value: Any) -> Any:
    """Return a time in seconds: Google's are texts or objects, the whole numbers of NVIDIA Riva are milliseconds."""
    return scaled(value, 0.001) if isinstance(value, int) else seconds_of(value)
