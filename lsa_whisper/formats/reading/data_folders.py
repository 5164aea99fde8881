"""Folders of data: those of Kaldi, and those of the library ``datasets``.

Kaldi's have ``wav.scp``, ``text``, and perhaps ``segments`` and ``utt2spk``. Those of ``datasets`` are saved data sets,
Parquet files, or folders of audio with metadata: the text is in a column such as ``text``, ``transcription`` or
``sentence``; the audio is in ``audio``, as a path or as the bytes of a file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.errors import FormatError, first_line
from lsa_whisper.formats.reading.files import decode_bytes, read_bytes
from lsa_whisper.formats.reading.manifests import TEXT_NAMES, manifest_rows, name_apart
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.manifest.shard_audio import opened_parquet
from lsa_whisper.timespan import TimeSpan

_RECORDINGS, _TEXT, _SEGMENTS, _UTTERANCE_SPEAKERS = "wav.scp", "text", "segments", "utt2spk"
_Table = Mapping[str, tuple[str, str]]
"""Key -> the rest of its line, and the line's place."""


def is_kaldi(folder: Path) -> bool:
    """Return whether ``folder`` is a Kaldi data folder."""
    return (folder / _RECORDINGS).is_file() and (folder / _TEXT).is_file()


def kaldi_sources(folder: Path) -> list[Source]:
    """Return one source for each recording; without ``segments``, an utterance is a whole recording and has no times.

    Raises:
        FormatError: A line is damaged, or an utterance has no recording.
    """
    recordings, segments = _table(folder / _RECORDINGS), _table(folder / _SEGMENTS)
    speakers = _table(folder / _UTTERANCE_SPEAKERS)
    sources: dict[str, Source] = {}
    for utterance, (text, here) in _table(folder / _TEXT).items():
        recording, span = _segment(segments[utterance]) if utterance in segments else (utterance, None)
        if (segments and utterance not in segments) or recording not in recordings:
            file = _SEGMENTS if segments and utterance not in segments else _RECORDINGS
            raise FormatError(f"{here}: {utterance} has no line in {file}; add it, or remove the utterance")
        source = sources.setdefault(
            recording, Source(Path(recording).name, recording=_path(*recordings[recording]), shares_times=False)
        )
        speaker = speakers[utterance][0] if utterance in speakers else ""
        source.spoken.append(SpokenText(speaker, text, span, place=here))
    name_apart(sources.values())
    return list(sources.values())


def _table(path: Path) -> _Table:
    """Return the lines of a file by their first column; empty without the file."""
    if not path.is_file():
        return {}
    table = {}
    for number, line in enumerate(decode_bytes(read_bytes(path), str(path)).split("\n"), start=1):
        key, _, rest = line.strip().partition(" ")
        if not key:
            continue
        if key in table:
            raise FormatError(f"{path}:{number}: {key} is there twice; remove one of the lines")
        table[key] = (rest.strip(), f"{path}:{number}")
    return table


def _segment(row: tuple[str, str]) -> tuple[str, TimeSpan | None]:
    columns, here = row[0].split(), row[1]
    if len(columns) != 3:
        raise FormatError(f"{here}: has {len(columns) + 1} columns; segments has utterance, recording, start, end")
    return columns[0], span_of_seconds(columns[1], columns[2], here)


def _path(text: str, here: str) -> str:
    if not text or text.endswith("|"):
        raise FormatError(f"{here}: is a command or empty; write the path of the recording, for commands are not run")
    return text


_METADATA = ("metadata.jsonl", "metadata.csv")
_SAVED, _SAVED_SPLITS = "state.json", "dataset_dict.json"
_SPEAKERS = ("speaker", "speaker_id", "client_id")
_LANGUAGES = ("language", "lang", "locale")
_SPLIT_NAMES = {"train": "train", "validation": "dev", "dev": "dev", "valid": "dev", "test": "test"}


@dataclass(frozen=True)
class DatasetRow:
    """A recording with its text.

    Attributes:
        text: What is spoken.
        path: Its path or name; may be empty.
        data: The bytes of its file, if the data set contains them.
        speaker: The speaker's name; may be empty.
        language: The language in any code.
        split: ``train``, ``dev`` or ``test``, if the data set has splits.
        place: File and row, for messages.
    """

    text: str
    path: str
    data: bytes | None
    speaker: str
    language: str | None
    split: str | None
    place: str


def is_datasets_folder(folder: Path) -> bool:
    """Return whether ``folder`` was written by ``datasets``, or is a folder of audio with metadata."""
    return any((folder / name).is_file() for name in (*_METADATA, _SAVED, _SAVED_SPLITS)) or bool(_parquet(folder))


def dataset_rows(folder: Path) -> Iterator[DatasetRow]:
    """Yield the rows of a folder.

    Raises:
        FormatError: The folder is damaged, or a row has no text or audio.
    """
    for row, split, place in _raw_rows(folder):
        audio = row.get("audio", row.get("file_name", row.get("audio_filepath")))
        path, data = (audio.get("path"), audio.get("bytes")) if isinstance(audio, Mapping) else (audio, None)
        text = next((row[name] for name in TEXT_NAMES if isinstance(row.get(name), str)), None)
        if text is None or not (isinstance(path, str) or data):
            columns = ", ".join(list(row)[:8])
            raise FormatError(f"{place}: needs the columns 'audio' (or 'file_name') and 'text'; it has {columns}")
        speaker, language = (
            next((str(row[name]) for name in names if row.get(name) is not None), "")
            for names in (_SPEAKERS, _LANGUAGES)
        )
        yield DatasetRow(text, path or "", data, speaker, language[:2] or None, split, place)


def _raw_rows(folder: Path) -> Iterator[tuple[Mapping[str, Any], str | None, str]]:
    metadata = next((path for name in _METADATA if (path := folder / name).is_file()), None)
    if metadata:
        text = decode_bytes(read_bytes(metadata), str(metadata))
        rows = manifest_rows(text, str(metadata)) if metadata.suffix == ".jsonl" else _csv_rows(text, str(metadata))
        yield from ((row, None, place) for row, place in rows)
    elif _parquet(folder):
        yield from _parquet_rows(folder)
    else:
        yield from _saved_rows(folder)


def _csv_rows(text: str, place: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    reader = csv.DictReader(io.StringIO(text))
    yield from ((row, f"{place}:{reader.line_num}") for row in reader)


def _parquet(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet")) or sorted(folder.glob("data/*.parquet"))


def _parquet_rows(folder: Path) -> Iterator[tuple[Mapping[str, Any], str | None, str]]:
    import pyarrow as pa

    for path in _parquet(folder):
        split = _SPLIT_NAMES.get(path.name.partition("-")[0].removesuffix(".parquet"))
        try:
            with opened_parquet(path) as file:
                rows = (row for batch in file.iter_batches(batch_size=64) for row in batch.to_pylist())
                yield from ((row, split, f"{path}: row {number}") for number, row in enumerate(rows, 1))
        except (pa.ArrowInvalid, OSError) as error:
            raise FormatError(f"{path}: is not a Parquet file that can be read ({error}); copy it again") from error


def _saved_rows(folder: Path) -> Iterator[tuple[Mapping[str, Any], str | None, str]]:
    import datasets

    try:
        dataset = datasets.load_from_disk(str(folder))
        parts = dataset.items() if isinstance(dataset, datasets.DatasetDict) else [("", dataset)]
        for name, part in parts:
            if "audio" in part.column_names and isinstance(part.features["audio"], datasets.Audio):
                part = part.cast_column("audio", datasets.Audio(decode=False))
            place = f"{folder}{'/' if name else ''}{name}"
            yield from ((row, _SPLIT_NAMES.get(name), f"{place}: row {number}") for number, row in enumerate(part, 1))
    except FormatError:
        raise
    except Exception as error:  # the library raises errors of many kinds for damaged folders
        raise FormatError(f"{folder}: cannot be read by datasets ({first_line(error)}); save it again") from error
