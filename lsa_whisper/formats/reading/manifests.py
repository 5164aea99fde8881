"""Manifests of training data, a JSON object a line: NeMo's, Lhotse's cuts, and the metadata of an audio folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError, FormatError
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.system import plain_json
from lsa_whisper.timespan import TimeSpan

TEXT_NAMES = ("text", "transcription", "transcript", "sentence")
_AUDIO = ("audio_filepath", "file_name")
Row = tuple[Mapping[str, Any], str]


def manifest_rows(text: str, place: str) -> Iterator[Row]:
    """Yield the object on each line, with its place.

    Raises:
        FormatError: A line is not a JSON object.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = plain_json.parse(line)
        except ValueError as error:
            raise FormatError(f"{place}:{number}: is not complete JSON ({error}); copy the file again") from error
        if not isinstance(row, Mapping):
            raise FormatError(f"{place}:{number}: is not a JSON object; a manifest has one on each line")
        yield row, f"{place}:{number}"


def is_manifest_row(row: Mapping[str, Any]) -> bool:
    """Return whether an object is a row of a manifest."""
    return any(name in row for name in (*_AUDIO, "supervisions"))


def manifest_sources(rows: Iterable[Row], folder: Path, *, recognized: bool = True) -> list[Source]:
    """Return one source for each recording of a manifest in ``folder``; each row is an utterance.

    The rows are from :func:`manifest_rows`. With ``recognized``, the text of a recognizer is taken before that of a
    person.

    Raises:
        FormatError: A row lacks its recording or its text, or has a damaged time.
    """
    sources: dict[str, Source] = {}
    for row, here in rows:
        for recording, spoken, language in (
            _cut(row, here) if "supervisions" in row else [_row(row, here, folder, recognized)]
        ):
            name = Path(recording.replace("\\", "/")).stem
            source = sources.setdefault(
                recording, Source(name, media=name, recording=recording, language=language, shares_times=False)
            )
            source.spoken.append(spoken)
    name_apart(sources.values())
    return list(sources.values())


def name_apart(sources: Iterable[Source]) -> None:
    """Give sources of one name names of their own: corpora often number the recordings of each speaker alike."""
    names: set[str] = set()
    for source in sources:
        name, number = source.name, 1
        while source.name in names:
            number += 1
            source.name = f"{name}_{number}"
        names.add(source.name)


def _row(row: Mapping[str, Any], here: str, folder: Path, recognized: bool) -> tuple[str, SpokenText, str | None]:
    """Return the utterance of NeMo's row, or of an audio folder's, which has no times: it is the whole recording."""
    audio = next((row[name] for name in _AUDIO if isinstance(row.get(name), str) and row[name]), None)
    columns = ("pred_text", *TEXT_NAMES, "hypothesis") if recognized else TEXT_NAMES
    text = next((row[name] for name in columns if isinstance(row.get(name), str)), None)
    if audio is None or text is None:
        raise FormatError(f"{here}: a row needs 'audio_filepath' (or 'file_name') and 'text' or 'pred_text'; add them")
    start = span_of_seconds(0, row.get("offset") or 0, here)
    duration = row.get("duration")
    if duration is None and "file_name" in row:
        duration = _duration_s(folder / audio)
    length = None if duration is None else span_of_seconds(0, duration, here)
    span = TimeSpan(start.end_ms, start.end_ms + length.end_ms) if start and length else None
    return audio, SpokenText(_speaker(row), text, span, place=here), _language(row)


def _cut(row: Mapping[str, Any], here: str) -> Iterator[tuple[str, SpokenText, str | None]]:
    """Yield the supervisions of a Lhotse cut; their times count from the start of the cut."""
    recording, supervisions = row.get("recording"), row.get("supervisions")
    name = recording.get("id") if isinstance(recording, Mapping) else row.get("recording_id") or row.get("id")
    sources = recording.get("sources") if isinstance(recording, Mapping) else None
    path = (
        sources[0].get("source") if isinstance(sources, list) and sources and isinstance(sources[0], Mapping) else None
    )
    if not isinstance(supervisions, list) or not isinstance(name, str) or not name:
        raise FormatError(f"{here}: a Lhotse cut needs its recording and its list of supervisions; write it again")
    name = path if isinstance(path, str) and path else name
    first = span_of_seconds(0, row.get("start") or 0, here)
    for supervision in supervisions:
        if not isinstance(supervision, Mapping) or not isinstance(supervision.get("text"), str):
            raise FormatError(f"{here}: a supervision of this cut has no text; add it, or drop the cut")
        start = span_of_seconds(0, supervision.get("start"), here)
        length = span_of_seconds(0, supervision.get("duration"), here)
        if first and start and length:
            begin = first.end_ms + start.end_ms
            span = TimeSpan(begin, begin + length.end_ms)
            yield name, SpokenText(_speaker(supervision), supervision["text"], span, place=here), _language(supervision)


def _speaker(row: Mapping[str, Any]) -> str:
    return row["speaker"] if isinstance(row.get("speaker"), str) else ""


def _language(row: Mapping[str, Any]) -> str | None:
    language = row.get("lang") or row.get("language")
    return language if isinstance(language, str) and 2 <= len(language) <= 3 else None


def _duration_s(path: Path) -> float | None:
    try:
        return Recording.open(path).duration_s
    except AudioError:  # the recordings may be in another folder; then the utterance has no times
        return None
