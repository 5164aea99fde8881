"""``Segment``: one training window, one JSON line; read, write and check manifests.

The column names are those NeMo and lhotse use, so a manifest of another tool with only ``audio_filepath``, ``offset``,
``duration`` and ``text`` loads too, and columns this package does not know are passed over.

Paths: a recording that lies beside the prepared folder or in it (below the parent of the manifest's folder) is written
relative to the manifest, so that both can be moved together; any other recording is written as an absolute path, so
that the prepared folder can be moved alone.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import re
import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper import plain_json
from lsa_whisper.errors import ManifestError
from lsa_whisper.timespan import TimeSpan

SPLITS = ("train", "dev", "test")
TIMESTAMP = re.compile(r"<\|(\d+\.\d\d)\|>")
"""Whisper's marks of time inside a text, in seconds from the window's start."""
LONGEST_S = 1e6
"""No recording is longer, in seconds: eleven days."""
LONGEST_ROW = 1 << 20
"""In characters; a window of thirty seconds has some thousand."""
MAPPED_FROM_BYTES = 32 * 2**20
"""Manifests from this size on are mapped from disk; smaller ones, some 80,000 rows, are quicker to hold."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a recording, at most one context long, and the text a model learns to write for it.

    Attributes:
        audio_filepath: Absolute after :func:`read`; see the module for what is written.
        offset: Where the window begins in the recording, in seconds.
        duration: How long it is, in seconds.
        text: The labels; may hold Whisper's timestamp tokens (``<|0.00|>``), relative to ``offset``.
        speaker: Speaker ids in order of appearance, joined by ``+``.
        lang: Whisper's language code, such as ``en``.
        corpus: The corpus card's name, or the folder's.
        session: The transcript this window comes from.
        split: ``train``, ``dev`` or ``test``.
        labels: Label style and version, such as ``chat/3``.
        prompt: What was said before, given to the decoder but not learned; often empty.
    """

    audio_filepath: str
    offset: float
    duration: float
    text: str
    speaker: str = ""
    lang: str = "en"
    corpus: str = ""
    session: str = ""
    split: str = "train"
    labels: str = "chat/3"
    prompt: str = ""

    @property
    def span(self) -> TimeSpan:
        """Where the window lies in its recording.

        >>> Segment("a.wav", 1.5, 2.25, "yes.").span
        TimeSpan(start_ms=1500, end_ms=3750)
        """
        start_ms = round(self.offset * 1000)
        return TimeSpan(start_ms, start_ms + round(self.duration * 1000))


_NUMBERS = ("offset", "duration")
_NAMES = tuple(field.name for field in dataclasses.fields(Segment))
_TEXTS = tuple(name for name in _NAMES if name not in _NUMBERS)
_REQUIRED = ("audio_filepath", "offset", "duration", "text")


def parse_row(line: str, *, place: str = "row") -> Segment:
    """Return the segment that one JSON ``line`` describes.

    >>> parse_row('{"audio_filepath": "a.wav", "offset": 1, "duration": 2.5, "text": "&-um no ."}').duration
    2.5

    Raises:
        ManifestError: The row is no JSON object, or a value is missing or impossible; ``place`` opens the message.
    """
    try:
        row = plain_json.load(line)
    except ValueError as error:
        reason = getattr(error, "msg", None) or error
        raise ManifestError(f"{place}: not a JSON object ({reason}); prepare the data again") from error
    if not isinstance(row, dict):
        raise ManifestError(f"{place}: a row must be a JSON object, not {type(row).__name__}")
    return _segment(row, place)


def _segment(row: dict[str, Any], place: str) -> Segment:
    problem = _problem(row)
    if problem:
        raise ManifestError(f"{place}: {problem}")
    texts = {name: row[name] for name in _TEXTS if name in row}
    return Segment(offset=float(row["offset"]), duration=float(row["duration"]), **texts)


def _problem(row: dict[str, Any]) -> str | None:
    """Return what is wrong with ``row``, or ``None``."""
    for name in _REQUIRED:
        if name not in row:
            return f"{name!r} is missing; a row needs {', '.join(_REQUIRED)}"
    for name in _TEXTS:
        if name in row and not isinstance(row[name], str):
            return f"{name!r} must be text, not {_shown(row[name])}"
    for name in _NUMBERS:
        value = row[name]
        if not plain_json.is_finite(value):
            return f"{name!r} must be a number of seconds, not {_shown(value)}"
    if not row["audio_filepath"]:
        return "'audio_filepath' is empty; name a recording"
    if not (0 <= row["offset"] <= LONGEST_S and 0 < row["duration"] <= LONGEST_S):
        offset, duration = _shown(row["offset"]), _shown(row["duration"])
        return f"offset {offset} s and duration {duration} s do not describe a piece of a recording"
    if row.get("split", "train") not in SPLITS:
        return f"split {_shown(row['split'])} is none of {', '.join(SPLITS)}"
    return None


def _shown(value: Any) -> str:
    """Return a wrong value as a message can hold it."""
    return reprlib.repr(value)


def stream(path: Path | str, *, start: int = 0) -> Iterator[Segment]:
    """Yield the segments of the manifest at ``path`` one by one, audio paths made absolute.

    A Parquet shard (``.parquet``) is a manifest too; the audio in it is passed over. The first ``start`` lines of a
    JSON-lines manifest are passed over unread.

    Raises:
        ManifestError: The file is missing or unreadable, or a row is bad (``path:line: what is wrong``).
    """
    path = Path(path)
    if not path.is_file():
        raise ManifestError(f"{path}: no such manifest; make one with 'lsa-whisper prepare'")
    folder = path.resolve().parent
    for segment in _parquet_rows(path) if path.suffix == ".parquet" else _json_rows(path, start):
        audio = os.path.normpath(folder / segment.audio_filepath)
        yield dataclasses.replace(segment, audio_filepath=audio)


def _json_rows(path: Path, start: int) -> Iterator[Segment]:
    with path.open(encoding="utf-8") as lines:
        try:
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST_ROW), ""), 1):
                if len(line) == LONGEST_ROW:
                    raise ManifestError(f"{path}:{number}: longer than any row; is this a JSON-lines manifest?")
                if number > start and line.strip():
                    yield parse_row(line, place=f"{path}:{number}")
        except UnicodeDecodeError as error:
            raise ManifestError(f"{path}: not UTF-8 text; is this a JSON-lines manifest?") from error


def _parquet_rows(path: Path) -> Iterator[Segment]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            columns = [name for name in _NAMES if name in file.schema_arrow.names]
            rows = (row for batch in file.iter_batches(columns=columns) for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                yield _segment(row, f"{path}:{number}")
    except pa.ArrowInvalid as error:
        raise ManifestError(f"{path}: not a Parquet file that can be read; prepare the data again") from error


def read(path: Path | str) -> list[Segment]:
    """Return all segments of the manifest at ``path``, audio paths made absolute.

    Raises:
        ManifestError: As :func:`stream` does.
    """
    return list(stream(path))


def write(segments: Iterable[Segment], path: Path | str) -> None:
    """Write ``segments`` to ``path``, one JSON line each; the file appears whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.resolve().parent
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            for segment in segments:
                file.write(serialize_row(segment, folder) + "\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def describe_row(segment: Segment, folder: Path) -> dict[str, Any]:
    """Return the columns of ``segment`` for a manifest in ``folder`` (absolute), with its path as the module says."""
    row = {name: getattr(segment, name) for name in _NAMES}
    audio = Path(segment.audio_filepath)
    if audio.is_absolute() and audio.is_relative_to(folder.parent):
        row["audio_filepath"] = Path(os.path.relpath(audio, folder)).as_posix()
    return row


def serialize_row(segment: Segment, folder: Path) -> str:
    """Return ``segment`` as one JSON line for a manifest in ``folder`` (absolute)."""
    row = describe_row(segment, folder)
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8 comes from the system as lone surrogates
        line = json.dumps(row)
    return line


def sha256(path: Path | str) -> str:
    """Return the SHA-256 of the file at ``path`` in hexadecimal, for provenance."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_dataset(path: Path | str, split: str = "train") -> Any:
    """Return split ``split`` of the prepared folder at ``path`` as a ``datasets.Dataset``; see :func:`open_rows`."""
    return open_rows(Path(path) / f"{split}.jsonl")


def open_rows(path: Path | str) -> Any:
    """Return the manifest at ``path`` as a ``datasets.Dataset``; :func:`from_row` makes a segment of a row.

    Rows are checked and their audio paths made absolute first. A long manifest is streamed once to an Arrow file in
    the cache of ``datasets`` and mapped from there, so that its rows take no memory, in worker processes neither.

    Raises:
        ManifestError: The manifest is missing or malformed, or the cache cannot be written.
    """
    import datasets

    rows = Path(path)
    if not rows.is_file() or rows.stat().st_size < MAPPED_FROM_BYTES:
        columns = {name: [] for name in _NAMES} | _columns(_row_dicts(rows))
        return datasets.Dataset.from_dict(columns, features=datasets.Features.from_arrow_schema(_schema()))
    places = f"{sha256(rows)} {rows.resolve().parent} {_NAMES}"  # the folder too: rows may name audio relative to it
    folder = Path(datasets.config.HF_DATASETS_CACHE) / "lsa_whisper"
    copy = folder / f"{hashlib.sha256(os.fsencode(places)).hexdigest()}.arrow"
    if not copy.is_file():
        try:
            _copy_to_arrow(rows, copy)
        except OSError as error:
            raise ManifestError(
                f"{path}: cannot be copied to {folder} ({error}); set HF_DATASETS_CACHE to a folder with room"
            ) from error
    return datasets.Dataset.from_file(str(copy))


def _copy_to_arrow(path: Path, copy: Path) -> None:
    """Write the rows of ``path`` to ``copy`` as Arrow's stream format; several processes may do so at once."""
    import pyarrow

    copy.parent.mkdir(parents=True, exist_ok=True)
    partial = copy.with_name(f".{copy.name}.{os.getpid()}.partial")
    rows = _row_dicts(path)
    try:
        with partial.open("wb") as file, pyarrow.ipc.new_stream(file, _schema()) as writer:
            while batch := _columns(itertools.islice(rows, 10_000)):
                writer.write_batch(pyarrow.record_batch(batch, schema=_schema()))
        partial.replace(copy)
    finally:
        partial.unlink(missing_ok=True)


def _schema() -> Any:
    import pyarrow

    kinds = {name: pyarrow.float64() if name in _NUMBERS else pyarrow.string() for name in _NAMES}
    return pyarrow.schema(list(kinds.items()))


def _columns(rows: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, of no rows none."""
    held = list(rows)
    return {name: [row[name] for row in held] for name in held[0]} if held else {}


def from_row(row: dict[str, Any]) -> Segment:
    """Return the segment that a row of :func:`open_rows` holds."""
    audio = row["audio_filepath"]
    return Segment(**row | {"audio_filepath": plain_json.load(audio) if audio.startswith('"') else audio})


def _row_dicts(path: Path) -> Iterator[dict[str, Any]]:
    for segment in stream(path):
        row = {name: getattr(segment, name) for name in _NAMES}
        if not row["audio_filepath"].isascii():
            row["audio_filepath"] = _as_unicode(row["audio_filepath"])
        yield row


def _as_unicode(path: str) -> str:
    """Return ``path``, or its JSON form where Arrow cannot hold it: a name that is not UTF-8 has lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return json.dumps(path)
    return path
