"""Label Studio: tasks whose regions have times, a label for the speaker, and a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import rows, text_of
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds

_AUDIO = ("audio", "audio_url", "url", "sound")


def is_tasks(tasks: Sequence[Any]) -> bool:
    """Return whether a list holds tasks of Label Studio, in its full or its minimal form."""
    return any(
        isinstance(task, Mapping) and (("annotations" in task and "data" in task) or _is_minimal(task))
        for task in tasks
    )


def _is_minimal(task: Mapping[str, Any]) -> bool:
    return "transcription" in task and any(name in task for name in _AUDIO)


def task_sources(tasks: Sequence[Any], place: str) -> list[Source]:
    """Return one transcript for each task."""
    sources: list[Source] = []
    for task, here in rows(list(tasks), f"{place}: task"):
        data = task.get("data") if isinstance(task.get("data"), Mapping) else task
        url = text_of(data, *_AUDIO) if isinstance(data, Mapping) else ""
        name = re.sub(r"^[0-9a-f]{8}-", "", PurePosixPath(url.replace("\\", "/").rpartition("=")[2]).stem)
        source = Source(name or f"task_{task.get('id', len(sources) + 1)}", notation="auto", media=name or None)
        source.spoken = list(_minimal(task, here) if _is_minimal(task) else _regions(task, here))
        source.spoken.sort(key=lambda turn: turn.span.start_ms if turn.span else 0)
        if source.spoken:
            sources.append(source)
    return sources


def _regions(task: Mapping[str, Any], place: str) -> Iterator[SpokenText]:
    """Yield the regions of the first annotation that is not empty: what has one ``id`` is one region."""
    annotations = [annotation for annotation, _ in rows(task.get("annotations"), f"{place}, annotation")]
    results = (annotation.get("result") for annotation in annotations if not annotation.get("was_cancelled"))
    result = next(filter(None, results), None)
    regions: dict[Any, dict[str, Any]] = {}
    for part, here in rows(result, f"{place}, region"):
        value = part.get("value")
        if isinstance(value, Mapping):
            regions.setdefault(str(part.get("id", here)), {"place": here}).update(value)
    for region in regions.values():
        yield from _spoken(region, region.get("text"), region["place"])


def _minimal(task: Mapping[str, Any], place: str) -> Iterator[SpokenText]:
    labels: list[Any] = next((task[name] for name in ("label", "labels") if isinstance(task.get(name), list)), [])
    texts = task["transcription"] if isinstance(task["transcription"], list) else [task["transcription"]]
    regions = [region for region, _ in rows(labels, f"{place}, region")]
    for number, text in enumerate(texts):
        yield from _spoken(regions[number] if len(regions) == len(texts) else {}, text, place)


def _spoken(region: Mapping[str, Any], text: Any, place: str) -> Iterator[SpokenText]:
    text = text.get("text") if isinstance(text, Mapping) else text
    lines = [line for line in (text if isinstance(text, list) else [text]) if isinstance(line, str) and line.strip()]
    labels = region.get("labels")
    speaker = labels[0] if isinstance(labels, list) and labels and isinstance(labels[0], str) else ""
    if lines:
        span = span_of_seconds(region.get("start"), region.get("end"), place)
        yield SpokenText(speaker, " ".join(lines), span, place=place)
