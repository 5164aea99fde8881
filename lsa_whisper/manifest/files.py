"""Manifests on disk: JSON lines, or the Parquet shards of ``prepare --shards``; read row by row, written atomically."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lsa_whisper.errors import ManifestError
from lsa_whisper.manifest.segment import MANIFEST_COLUMNS, Segment, parse_row, segment_of
from lsa_whisper.manifest.shard_audio import manifest_files, opened_parquet, unreadable_manifest
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import atomic_file

_LEFT_OUT_IF_EMPTY = ("spliced", "word_times")
MAX_ROW_CHARS = 1 << 20
"""Maximum length of a row in characters; a window of thirty seconds has about a thousand."""


def stream(path: Path | str, *, start: int = 0) -> Iterator[Segment]:
    """Yield the segments of the manifest at ``path`` one by one, audio paths made absolute.

    A Parquet shard (``.parquet``) is also a manifest, and so are the shards that a folder or a glob names; their audio
    (:func:`lsa_whisper.manifest.open_audio`) is passed over. The first ``start`` lines of a JSON-lines manifest are
    skipped.

    Raises:
        ManifestError: The file is missing or unreadable, or a row is bad (``path:line: what is wrong``).
    """
    for file in manifest_files(path):
        yield from _stream(file, start)


def _stream(path: Path, start: int) -> Iterator[Segment]:
    try:
        if not path.is_file():
            raise ManifestError(f"{path}: no such manifest; make one with 'lsa-whisper prepare'")
        folder = path.resolve().parent
        rows = _parquet_rows(path) if path.suffix == ".parquet" else _json_rows(path, start)
    except OSError as error:
        raise unreadable_manifest(path, error) from error
    for segment in rows:
        audio = os.path.normpath(folder / segment.audio_filepath)
        yield dataclasses.replace(segment, audio_filepath=audio)


def _json_rows(path: Path, start: int) -> Iterator[Segment]:
    for number, line in enumerate(_lines(path), 1):
        if len(line) == MAX_ROW_CHARS:
            raise ManifestError(f"{path}:{number}: longer than any row; is this a JSON-lines manifest?")
        if number > start and line.strip():
            yield parse_row(line, place=f"{path}:{number}")


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as lines:
            yield from iter(lambda: lines.readline(MAX_ROW_CHARS), "")
    except UnicodeDecodeError as error:
        raise ManifestError(f"{path}: not UTF-8 text; is this a JSON-lines manifest?") from error
    except OSError as error:
        raise unreadable_manifest(path, error) from error


def _parquet_rows(path: Path) -> Iterator[Segment]:
    import pyarrow as pa

    try:
        with opened_parquet(path) as file:
            columns = [name for name in MANIFEST_COLUMNS if name in file.schema_arrow.names]
            rows = (row for batch in file.iter_batches(columns=columns) for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                yield segment_of(row, f"{path}:{number}")
    except (pa.ArrowInvalid, OSError) as error:  # damaged pages raise an OSError without errno
        if isinstance(error, OSError) and error.errno:
            raise unreadable_manifest(path, error) from error
        raise ManifestError(f"{path}: not a Parquet file that can be read; prepare the data again") from error


def read(path: Path | str) -> list[Segment]:
    """Return all segments of the manifest at ``path``, audio paths made absolute.

    Raises:
        ManifestError: As :func:`stream` does.
    """
    return list(stream(path))


def write(segments: Iterable[Segment], path: Path | str) -> None:
    """Write ``segments`` to ``path``, one JSON line each; atomically."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.resolve().parent
    with atomic_file(path) as file:
        for segment in segments:
            file.write(f"{serialize_row(segment, folder)}\n".encode())


def describe_row(segment: Segment, folder: Path) -> dict[str, Any]:
    """Return the manifest columns of ``segment``, its path written for a manifest in ``folder`` (absolute)."""
    row = {name: getattr(segment, name) for name in MANIFEST_COLUMNS}
    audio = Path(segment.audio_filepath)
    if audio.is_absolute() and audio.is_relative_to(folder.parent):
        row["audio_filepath"] = Path(os.path.relpath(audio, folder)).as_posix()
    return row


def serialize_row(segment: Segment, folder: Path) -> str:
    """Return ``segment`` as one JSON line for a manifest in ``folder`` (absolute).

    Only rows of spliced speech have the column ``spliced``, and only those with word times ``word_times``.
    """
    row = describe_row(segment, folder)
    return plain_json.serialize({name: row[name] for name in row if row[name] or name not in _LEFT_OUT_IF_EMPTY})


def sha256(path: Path | str) -> str:
    """Return the SHA-256 of the file at ``path`` in hexadecimal, for provenance.

    Raises:
        ManifestError: The file is missing or unreadable.
    """
    files = manifest_files(path)
    if len(files) > 1:
        return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()
    path = files[0]
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise ManifestError(f"{path}: no such manifest; make one with 'lsa-whisper prepare'") from None
    except OSError as error:
        raise unreadable_manifest(Path(path), error) from error


def prompt_kind(path: Path | str) -> str | None:
    """Return what the prompts of the manifest at ``path`` are: ``previous`` or ``fluent`` text (see ``prepare``).

    ``None`` if its windows have none, or if ``prepared.json`` is not beside it.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    try:
        options = plain_json.read(folder / "prepared.json")["options"]
        return str(options.get("prompt", "previous")) if options["with_prompt"] else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
