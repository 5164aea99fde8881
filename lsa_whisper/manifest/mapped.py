"""A manifest as a ``datasets.Dataset``: rows of a long one stay on disk, and take no memory in any process."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lsa_whisper import plain_json
from lsa_whisper.errors import ManifestError
from lsa_whisper.manifest.files import sha256, stream
from lsa_whisper.manifest.segment import NAMES, NUMBERS, Segment
from lsa_whisper.whole import whole_file

MAPPED_FROM_BYTES = 32 * 2**20
"""Manifests from this size on are mapped from disk; smaller ones, some 80,000 rows, are quicker to hold."""


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
        columns = {name: [] for name in NAMES} | _columns(_row_dicts(rows))
        return datasets.Dataset.from_dict(columns, features=datasets.Features.from_arrow_schema(_schema()))
    places = f"{sha256(rows)} {rows.resolve().parent} {NAMES}"  # the folder too: rows may name audio relative to it
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
    rows = _row_dicts(path)
    with whole_file(copy) as file, pyarrow.ipc.new_stream(file, _schema()) as writer:
        while batch := _columns(itertools.islice(rows, 10_000)):
            writer.write_batch(pyarrow.record_batch(batch, schema=_schema()))


def _schema() -> Any:
    import pyarrow

    kinds = {name: pyarrow.float64() if name in NUMBERS else pyarrow.string() for name in NAMES}
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
        row = {name: getattr(segment, name) for name in NAMES}
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
