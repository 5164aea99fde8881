"""Google Speech-to-Text, and IBM Watson, whose results have nearly the same form."""

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
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of

_HESITATION = "%HESITATION"
"""What Watson writes for a filled pause."""


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has a list of results with alternatives."""
    results = _results(found)
    return isinstance(results, list) and any(isinstance(each, Mapping) and "alternatives" in each for each in results)


def _results(found: Mapping[str, Any]) -> Any:
    response = found.get("response")
    results = (response if isinstance(response, Mapping) else found).get("results")
    if isinstance(results, Mapping) and len(results) == 1:  # of a batch of one file, by its address
        (inner,) = results.values()
        transcript = inner.get("transcript") if isinstance(inner, Mapping) else None
        return transcript.get("results") if isinstance(transcript, Mapping) else None
    return results


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of the best alternatives; with speakers, those of the last result, which has all words."""
    results = list(rows(_results(found), f"{place}: result"))
    best = [(first(each.get("alternatives"), here), here) for each, here in results]
    source.language = next(
        (code for each, _ in results if (code := text_of(each, "languageCode", "language_code"))), None
    )
    labels = ((row.get("from"), row.get("speaker")) for row, _ in rows(found.get("speaker_labels"), f"{place}: label"))
    speakers = {start: speaker_name(speaker) for start, speaker in labels if isinstance(start, int | float)}
    words = [list(_words(each, here, speakers)) for each, here in best]
    if (
        words
        and any(word.speaker for word in words[-1])
        and not any(word.speaker for some in words[:-1] for word in some)
    ):
        best, words = best[-1:], words[-1:]
    for (each, here), some in zip(best, words, strict=True):
        text = text_of(each, "transcript")
        source.spoken += utterances_of(some, source.language) or ([SpokenText("", text, place=here)] if text else [])


def _words(best: Mapping[str, Any], place: str, speakers: Mapping[Any, str]) -> Iterator[RecognizedWord]:
    before: RecognizedWord | None = None
    listed = best.get("timestamps")
    for number, each in enumerate(listed if isinstance(listed, list) else (), 1):  # Watson's [word, start, end]
        if isinstance(each, list) and len(each) == 3 and isinstance(each[0], str) and each[0].strip():
            text = "uh" if each[0] == _HESITATION else each[0].strip()
            speaker = speakers.get(each[1], "") if isinstance(each[1], int | float) else ""
            before = word_of(text, each[1], each[2], speaker, f"{place}, word {number}", before)
            yield before
    for row, here in rows(best.get("words"), f"{place}, word"):
        text = text_of(row, "word").partition("|")[0]
        start = _time(field_of(row, "startTime", "start_time", "startOffset", "start_offset"))
        end = _time(field_of(row, "endTime", "end_time", "endOffset", "end_offset"))
        if end is not None and start is None:
            start = 0.0  # a field that is zero may be left out
        speaker = speaker_name(field_of(row, "speakerLabel", "speaker_label", "speakerTag", "speaker_tag") or None)
        if text:
            before = word_of(text, start, end, speaker, here, before)
            yield before


def _time(value: Any) -> Any:
    """Return a time in seconds: Google's are texts or objects, the whole numbers of NVIDIA Riva are milliseconds."""
    return scaled(value, 0.001) if isinstance(value, int) else seconds_of(value)
