"""The JSON of speech recognizers, of NeMo's manifests, and of this program.

Known are openai-whisper, faster-whisper, WhisperX, whisper-timestamped, CrisperWhisper and other pipelines of
transformers, and Batchalign. A file is an object (or list) of ``segments`` with ``words``, an object with ``chunks``, a
Batchalign document, a manifest (:mod:`lsa_whisper.formats.reading.manifests`), tasks of Label Studio, or the output of
one of :mod:`lsa_whisper.formats.reading.recognizers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Participant, compose
from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.manifests import is_manifest_row, manifest_rows, manifest_sources
from lsa_whisper.formats.reading.recognizers import RECOGNIZERS
from lsa_whisper.formats.reading.recognizers.fields import around, field_of, rows, scaled, speaker_name, text_of
from lsa_whisper.formats.reading.recognizers.label_studio import is_tasks, task_sources
from lsa_whisper.formats.reading.recognizers.turn_list import are_turns
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds, without_damaged_times
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of
from lsa_whisper.system import plain_json
from lsa_whisper.timespan import TimeSpan

_TIME = re.compile(r'"(?:\w*(?:start|begin|offset|timestamp)\w*|ts)"\s*:\s*[\[{"\d]', re.IGNORECASE)
_MIN_WORDS = 0.7
"""Share of chunks of one word from which chunks are words: CrisperWhisper and ``return_timestamps="word"``."""


def segment_utterances(segments: list[Any], place: str) -> Iterator[SpokenText]:
    """Yield the segments of Whisper's programs; words may be ``word`` or ``text``, speakers are WhisperX's."""
    for segment, here in rows(segments, f"{place}: segment"):
        entries = segment.get("words", segment.get("result"))  # "result" is Vosk's
        words = tuple(_segment_words(entries, here))
        text = segment.get("text", segment.get("body"))  # "body" is of podcasts
        if not isinstance(text, str):
            text = " ".join(word for word, _ in words)
        span = _span(segment, here) or around(words)
        speaker = _speaker(segment)
        by_word = [_speaker(word) for word in entries] if words and entries and not speaker else []
        if any(by_word) and len(by_word) == len(words) and all(at for _, at in words):
            yield from utterances_of(
                RecognizedWord(word, at, name, here) for (word, at), name in zip(words, by_word, strict=True) if at
            )
        elif text.strip():
            complete = len(words) == len(text.split())
            spoken = " ".join(word for word, _ in words) if complete else text
            times = words if any(at for _, at in words) else ()
            yield SpokenText(speaker, spoken, span, times, place=here)


def _speaker(row: Mapping[str, Any]) -> str:
    label = field_of(row, "speaker", "speaker_id", "speaker_name")
    return speaker_name(label.get("name") if isinstance(label, Mapping) else label)


def _span(row: Mapping[str, Any], place: str) -> TimeSpan | None:
    start, end, duration = field_of(row, "start", "startTime"), field_of(row, "end", "endTime"), row.get("duration")
    if end is None and plain_json.is_finite(start) and plain_json.is_finite(duration):  # of Premiere
        end = start + duration
    return span_of_seconds(start, end, place)


def _segment_words(words: Any, place: str) -> Iterator[tuple[str, TimeSpan | None]]:
    for entry in words if isinstance(words, list) else ():
        if not isinstance(entry, Mapping):
            raise FormatError(f"{place}: a word is not an object; write the file again")
        word = entry.get("word", entry.get("text"))
        span = _span(entry, place)
        if isinstance(word, str) and word.strip():
            yield word.strip().replace(" ", "_"), span


def chunk_utterances(chunks: Sequence[Any], place: str, language: str | None = None) -> Iterator[SpokenText]:
    """Yield the utterances of a pipeline's ``chunks``, which are words or sentences."""
    words: list[RecognizedWord] = []
    for chunk, here in rows(chunks, f"{place}: chunk"):
        if not isinstance(chunk.get("text"), str):
            raise FormatError(f"{here}: has no text; write the file again")
        times = chunk.get("timestamp")
        start, end = times if isinstance(times, list | tuple) and len(times) == 2 else (None, None)
        if isinstance(start, int | float) and isinstance(end, int | float) and end < start < inf:
            start = end = None  # where two windows overlap, the pipeline may write an end before the start
        span = span_of_seconds(start, start if end is None else end, here)
        if chunk["text"].strip():
            words.append(RecognizedWord(chunk["text"].strip(), span or TimeSpan(0, 0), _speaker(chunk), here))
    single = sum(len(word.text.split()) == 1 for word in words)
    if words and single >= _MIN_WORDS * len(words):
        yield from utterances_of(words, language)
    else:
        for word in words:
            span = word.span if word.span.end_ms else None  # the last one may have no end, which a note says
            yield SpokenText(word.speaker, word.text, span, place=word.place)


def batchalign_utterances(content: Sequence[Any], place: str) -> Iterator[SpokenText]:
    """Yield the utterances of a Batchalign document: words with times in milliseconds, under a tier with an id."""
    for number, entry in enumerate(content, start=1):
        here = f"{place}: utterance {number}"
        if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), list):
            continue
        tier = entry.get("tier")
        speaker = tier.get("id") if isinstance(tier, Mapping) else None
        forms, words = [], []
        for form in entry["content"]:
            if isinstance(form, Mapping) and isinstance(form.get("text"), str):
                forms.append(form["text"])
                if (at := _milliseconds(form.get("time"), here)) is not None:
                    words.append((form["text"], at))
        text = entry["text"] if isinstance(entry.get("text"), str) else " ".join(forms)
        span = _milliseconds(entry.get("time"), here) or around(words)
        yield SpokenText(speaker if isinstance(speaker, str) else "", text, span, tuple(words), place=here)


def _milliseconds(time: Any, place: str) -> TimeSpan | None:
    if not isinstance(time, list | tuple) or len(time) != 2 or not all(isinstance(edge, int | float) for edge in time):
        return None
    return span_of_seconds(time[0] / 1000, time[1] / 1000, place)


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcripts in a JSON file: one, or one for each recording of a manifest.

    Raises:
        FormatError: It is not JSON, or of no known form.
    """
    text = decode_bytes(data, place)
    try:
        document = plain_json.parse(text)
    except ValueError as error:
        manifest = list(manifest_rows(text, place)) if text.count("\n") and text.lstrip()[:1] == "{" else []
        if manifest:
            return manifest_sources(manifest, Path(place).parent)
        line = getattr(error, "lineno", 1)
        reason = getattr(error, "msg", None) or str(error)
        raise FormatError(f"{place}:{line}: is not complete JSON ({reason}); copy it again from its source") from error
    if isinstance(document, list) and is_tasks(document):
        return task_sources(document, place)
    if isinstance(document, dict) and is_manifest_row(document):
        return manifest_sources([(document, f"{place}:1")], Path(place).parent)
    notes: list[str] = []
    with without_damaged_times(notes):
        source = _recording(document, place)
    source.notes += notes
    if not notes and _TIME.search(text) and not any(turn.span for turn in source.spoken):
        source.notes.append("times are of a form that is not read; export subtitles to keep them")
    return [source]


def _recording(document: Any, place: str) -> Source:
    source = Source(Path(place).stem, notation="plain", has_segments=True)
    if isinstance(document, list):
        document = {_name_of_list(document): document}
    if not isinstance(document, Mapping):
        raise FormatError(
            f"{place}: is not a transcript of a speech recognizer; it holds {type(document).__name__} only"
        )
    if isinstance(inner := document.get("output"), Mapping):  # of services that run Whisper
        return _recording(inner, place)
    source.language = text_of(document, "language", "detected_language") or None
    source.full_text = text_of(document, "text")
    if isinstance(document.get("utterances"), list) and isinstance(document.get("participants"), Mapping):
        _own(document, source, place)
    elif isinstance(document.get("segments"), list):
        people = document.get("speakers") if isinstance(document.get("speakers"), list) else ()  # of Premiere
        names = {speaker_name(row.get("id")): text_of(row, "name") for row in people or () if isinstance(row, Mapping)}
        turns = segment_utterances(document["segments"], place)
        source.spoken = [replace(turn, speaker=names.get(turn.speaker) or turn.speaker) for turn in turns]
    elif isinstance(document.get("chunks"), list):
        chunks, people = document["chunks"], document.get("speakers")
        if isinstance(people, list) and any(isinstance(row, Mapping) and "timestamp" in row for row in people):
            chunks = people  # the same, with speakers, of insanely-fast-whisper
        source.spoken = list(chunk_utterances(chunks, place, source.language))
    elif isinstance(document.get("events"), list):
        source.spoken = list(segment_utterances(_of_youtube(document["events"], place), place))
    elif isinstance(document.get("content"), list):
        source.has_segments = False
        source.spoken = list(batchalign_utterances(document["content"], place))
    elif recognizer := next((candidate for candidate in RECOGNIZERS.values() if candidate.matches(document)), None):
        recognizer.read(document, source, place)
    elif isinstance(document.get("text"), str):
        source.spoken = [SpokenText("", document["text"], place=place)]
    else:
        raise FormatError(
            f"{place}: is not a form of JSON that is read: Whisper's programs (segments, chunks), Batchalign, NeMo, "
            f"Label Studio, {', '.join(RECOGNIZERS)}; export it as subtitles or text"
        )
    return source


def _of_youtube(events: list[Any], place: str) -> list[Any]:
    """Return the events of YouTube's captions (json3), whose times are in milliseconds, as segments."""
    return [
        {"text": "".join(str(part.get("utf8", "")) for part, _ in rows(row.get("segs"), here))}
        | {name: scaled(row.get(own), 0.001) for name, own in (("start", "tStartMs"), ("duration", "dDurationMs"))}
        for row, here in rows(events, f"{place}: event")
        if not row.get("aAppend")
    ]


def _name_of_list(items: list[Any]) -> str:
    """Return the field that a list alone would have in an object."""
    objects = [item for item in items if isinstance(item, Mapping)]
    if any(map(RECOGNIZERS["Azure"].matches, objects)):
        return "phrases"
    if objects and all("word" in item and "text" not in item for item in objects):
        return "words"
    return "transcript" if are_turns(items) else "segments"


def _own(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of the JSON that ``transcribe`` and ``convert`` write."""
    source.notation = "chat"
    source.media = document["media"] if isinstance(document.get("media"), str) else None
    languages = document.get("languages") or [None]
    source.language = languages[0] if isinstance(languages, list) and isinstance(languages[0], str) else None
    source.headers = _own_headers(document, source)
    for entry, here in rows(document["utterances"], f"{place}: utterance"):
        if not isinstance(entry.get("chat"), str):
            raise FormatError(f"{here}: has no text 'chat'; write the file again")
        words = entry.get("words") if isinstance(entry.get("words"), list) else []
        word_times = tuple(
            (str(word.get("word")), at)
            for word in words or ()
            if isinstance(word, Mapping) and (at := _ms(word.get("start_ms"), word.get("end_ms"), here))
        )
        span = _ms(entry.get("start_ms"), entry.get("end_ms"), here)
        source.spoken.append(SpokenText(str(entry.get("speaker") or ""), entry["chat"], span, word_times, place=here))


def _own_headers(document: Mapping[str, Any], source: Source) -> list[str]:
    people = [
        Participant(str(code), str(role or "Participant"), "", source.language or "eng")
        for code, role in document["participants"].items()
    ]
    languages = [language for language in document.get("languages") or () if isinstance(language, str)] or ["eng"]
    transcript = compose(languages=languages, participants=people, utterances=[])
    media = [f"@Media:\t{source.media}, audio"] if source.media else []
    return [
        line.raw.rstrip("\n") for line in transcript.headers if line.name in ("@Languages", "@Participants", "@ID")
    ] + media


def _ms(start: object, end: object, place: str) -> TimeSpan | None:
    seconds = [value / 1000 if plain_json.is_finite(value) else value for value in (start, end)]  # type: ignore[operator]
    return span_of_seconds(seconds[0], seconds[1], place)
