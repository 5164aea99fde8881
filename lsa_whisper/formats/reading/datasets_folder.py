"""Folders of the library ``datasets``: saved data sets, Parquet files, and folders of audio with metadata.

The text is in a column such as ``text``, ``transcription`` or ``sentence``; the audio is in ``audio``, as a path or as
the bytes of a file.
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
from lsa_whisper.formats.reading.manifests import TEXT_NAMES, manifest_rows

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
    import pyarrow.parquet as pq

    for path in _parquet(folder):
        split = _SPLIT_NAMES.get(path.name.partition("-")[0].removesuffix(".parquet"))
        try:
            with path.open("rb") as source, pq.ParquetFile(source) as file:
                rows = (row for batch in file.iter_batches(batch_size=64) for row in batch.to_pylist())
                yield from ((row, split, f"{path}: row {number}") for number, row in enumerate(rows, 1))
        except (pa.ArrowInvalid, OSError) as error:
            raise FormatError(f"{path}: is not a Parquet file that can be read ({error}); copy it again") from error


def _saved_rows(folder: Path) -> Iterator[tuple[Mapping[str, Any], str | None, str]]:
    import datasets

    try:
        loaded = datasets.load_from_disk(str(folder))
        parts = loaded.items() if isinstance(loaded, datasets.DatasetDict) else [("", loaded)]
        for name, part in parts:
            if "audio" in part.column_names and isinstance(part.features["audio"], datasets.Audio):
                part = part.cast_column("audio", datasets.Audio(decode=False))
            place = f"{folder}{'/' if name else ''}{name}"
            yield from ((row, _SPLIT_NAMES.get(name), f"{place}: row {number}") for number, row in enumerate(part, 1))
    except FormatError:
        raise
    except Exception as error:  # the library raises errors of many kinds for damaged folders
        raise FormatError(f"{folder}: cannot be read by datasets ({first_line(error)}); save it again") from error
