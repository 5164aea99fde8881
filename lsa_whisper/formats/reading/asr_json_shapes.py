"""The shapes of recognizers' JSON: segments with words, chunks of a pipeline, Batchalign's documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.source import SpokenText, span_of_seconds
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of
from lsa_whisper.timespan import TimeSpan

_MIN_WORDS = 0.7
"""Share of chunks of one word from which chunks are words: CrisperWhisper and ``return_timestamps="word"``."""


def segment_utterances(segments: Sequence[Any], place: str) -> Iterator[SpokenText]:
    """Yield the segments of Whisper's programs; words may be ``word`` or ``text``, speakers are WhisperX's."""
    for number, each in enumerate(segments, start=1):
        here = f"{place}: segment {number}"
        if not isinstance(each, Mapping):
            raise FormatError(f"{here}: is not an object; write the file again")
        words = tuple(_segment_words(each.get("words"), here))
        text = each.get("text")
        if not isinstance(text, str):
            text = " ".join(word for word, _ in words)
        span = span_of_seconds(each.get("start"), each.get("end"), here)
        speaker = each.get("speaker")
        if text.strip():
            complete = len(words) == len(text.split())
            spoken = " ".join(word for word, _ in words) if complete else text
            timed = words if any(at for _, at in words) else ()
            yield SpokenText(speaker if isinstance(speaker, str) else "", spoken, span, timed, place=here)


def _segment_words(words: Any, place: str) -> Iterator[tuple[str, TimeSpan | None]]:
    for each in words if isinstance(words, list) else ():
        if not isinstance(each, Mapping):
            raise FormatError(f"{place}: a word is not an object; write the file again")
        word = each.get("word", each.get("text"))
        span = span_of_seconds(each.get("start"), each.get("end"), place)
        if isinstance(word, str) and word.strip():
            yield word.strip().replace(" ", "_"), span


def chunk_utterances(chunks: Sequence[Any], place: str) -> Iterator[SpokenText]:
    """Yield the utterances of a pipeline's ``chunks``, which are words or sentences."""
    found: list[RecognizedWord] = []
    for number, each in enumerate(chunks, start=1):
        here = f"{place}: chunk {number}"
        if not isinstance(each, Mapping) or not isinstance(each.get("text"), str):
            raise FormatError(f"{here}: has no text; write the file again")
        times = each.get("timestamp")
        start, end = times if isinstance(times, list | tuple) and len(times) == 2 else (None, None)
        if isinstance(start, int | float) and isinstance(end, int | float) and end < start < inf:
            start = end = None  # where two windows overlap, the pipeline may write an end before the start
        span = span_of_seconds(start, start if end is None else end, here)
        if each["text"].strip():
            found.append(RecognizedWord(each["text"].strip(), span or TimeSpan(0, 0), "", here))
    single = sum(len(each.text.split()) == 1 for each in found)
    if found and single >= _MIN_WORDS * len(found):
        yield from utterances_of(found)
    else:
        for chunk in found:
            yield SpokenText("", chunk.text, chunk.span if chunk.span.duration_ms else None, place=chunk.place)


def batchalign_utterances(content: Sequence[Any], place: str) -> Iterator[SpokenText]:
    """Yield the utterances of a Batchalign document: words with times in milliseconds, under a tier with an id."""
    for number, each in enumerate(content, start=1):
        here = f"{place}: utterance {number}"
        if not isinstance(each, Mapping) or not isinstance(each.get("content"), list):
            continue
        tier = each.get("tier")
        speaker = tier.get("id") if isinstance(tier, Mapping) else None
        forms, words = [], []
        for form in each["content"]:
            if isinstance(form, Mapping) and isinstance(form.get("text"), str):
                forms.append(form["text"])
                if (at := _milliseconds(form.get("time"), here)) is not None:
                    words.append((form["text"], at))
        text = each["text"] if isinstance(each.get("text"), str) else " ".join(forms)
        yield SpokenText(
            speaker if isinstance(speaker, str) else "",
            text,
            _span_or_words(each.get("time"), words, here),
            tuple(words),
            place=here,
        )


def _milliseconds(time: Any, place: str) -> TimeSpan | None:
    if not isinstance(time, list | tuple) or len(time) != 2 or not all(isinstance(one, int | float) for one in time):
        return None
    return span_of_seconds(time[0] / 1000, time[1] / 1000, place)


def _span_or_words(time: Any, words: Sequence[tuple[str, TimeSpan]], place: str) -> TimeSpan | None:
    found = _milliseconds(time, place)
    return found or (words[0][1] | words[-1][1] if words else None)
