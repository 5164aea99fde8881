"""Manifests as ``datasets.Dataset``; long manifests are memory-mapped from disk."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsa_whisper.errors import ManifestError
from lsa_whisper.manifest.files import sha256, stream
from lsa_whisper.manifest.segment import MANIFEST_COLUMNS, TEXT_COLUMNS, Segment, is_unicode
from lsa_whisper.manifest.shard_audio import unreadable_manifest
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import atomic_file, truncate_name

_MARK = "\0json "
_SEALED = (errno.EACCES, errno.EPERM, errno.EROFS)
MAPPED_FROM_BYTES = 32 * 2**20
"""Manifests of this size or more are memory-mapped; smaller ones (up to about 80,000 rows) are loaded."""


def open_rows(path: Path | str) -> Any:
    """Return the manifest at ``path`` as a ``datasets.Dataset``; :func:`from_row` makes a segment of a row.

    Rows are checked and their audio paths made absolute first. A long manifest is streamed once to a hidden Arrow file
    next to it and mapped from there, so that its rows take no memory, in worker processes neither. The copy of a
    manifest that has changed since goes. Where the folder cannot be written to, the copy is in the cache of
    ``datasets``.

    Raises:
        ManifestError: The manifest is missing or malformed, or its copy cannot be written.
    """
    import datasets

    rows = Path(path)
    try:
        in_memory = not rows.is_file() or rows.stat().st_size < MAPPED_FROM_BYTES
        digest = "" if in_memory else _digest(rows)
    except OSError as error:
        raise unreadable_manifest(rows, error) from error
    if in_memory:
        columns = {name: [] for name in MANIFEST_COLUMNS} | _columns(_row_dicts(rows))
        return datasets.Dataset.from_dict(columns, features=datasets.Features.from_arrow_schema(_schema()))
    return datasets.Dataset.from_file(str(_copied(rows, digest)))


def remove_copies(path: Path) -> None:
    """Remove the hidden copies of the manifest at ``path``: they contain speech data and must not outlive it."""
    _drop(path.parent, _beside(path))


def _drop(folder: Path, name: str, but: Path | None = None) -> None:
    pattern = re.compile(rf"{re.escape(name)}\.[0-9a-f]{{16}}\.arrow")
    with suppress(OSError):  # there is no such folder, or, on Windows, another process still reads the copy
        for path in folder.iterdir():
            if path != but and pattern.fullmatch(path.name):
                path.unlink(missing_ok=True)


def _beside(rows: Path) -> str:
    return f".{truncate_name(rows.name)}"


def _digest(rows: Path) -> str:
    # The folder matters because rows may name audio relative to it.
    places = f"{sha256(rows)} {rows.resolve().parent} {MANIFEST_COLUMNS}"
    return hashlib.sha256(os.fsencode(places)).hexdigest()[:16]


def _places(rows: Path) -> list[tuple[Path, str]]:
    """Return the folders where a copy may lie, and how its name begins there."""
    import datasets

    name = hashlib.sha256(os.fsencode(rows.absolute())).hexdigest()[:16]
    cache = Path(datasets.config.HF_DATASETS_CACHE) / "lsa_whisper"
    return [(rows.parent, _beside(rows)), (cache, name)]


def _copied(rows: Path, digest: str) -> Path:
    """Return the path of the copy, created if missing; copies of earlier versions of the manifest are removed."""
    places = _places(rows)
    copies = [folder / f"{name}.{digest}.arrow" for folder, name in places]
    usable = [path for path in copies if is_unicode(str(path))] or copies  # Arrow opens no other names
    copy = next((path for path in usable if path.is_file()), None) or _new_copy(rows, usable)
    for folder, name in places:
        _drop(folder, name, but=copy)
    return copy


def _new_copy(rows: Path, copies: Sequence[Path]) -> Path:
    """Copy the manifest to the first of ``copies`` whose folder is not sealed."""
    for copy in copies:
        try:
            if copy.parent != rows.parent:
                copy.parent.mkdir(parents=True, exist_ok=True)
            _copy_to_arrow(rows, copy)
            return copy
        except OSError as error:
            if error.errno in _SEALED and copy != copies[-1]:
                continue
            remedy = "free space there" if copy != copies[-1] else "set HF_DATASETS_CACHE to a folder with room"
            raise ManifestError(f"{rows}: cannot be copied to {copy.parent} ({error}); {remedy}") from error
    raise AssertionError("the list of copies is never empty")


def _copy_to_arrow(path: Path, copy: Path) -> None:
    """Write the rows of ``path`` to ``copy`` as Arrow's stream format; several processes may do so at once."""
    import pyarrow

    rows = _row_dicts(path)
    with atomic_file(copy) as file, pyarrow.ipc.new_stream(file, _schema()) as writer:
        while batch := _columns(itertools.islice(rows, 10_000)):
            writer.write_batch(pyarrow.record_batch(batch, schema=_schema()))


def _schema() -> Any:
    import pyarrow

    kinds = {name: pyarrow.string() if name in TEXT_COLUMNS else pyarrow.float64() for name in MANIFEST_COLUMNS}
    return pyarrow.schema(list(kinds.items()))


def _columns(rows: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns; empty without rows."""
    in_memory = list(rows)
    return {name: [row[name] for row in in_memory] for name in in_memory[0]} if in_memory else {}


def from_row(row: dict[str, Any]) -> Segment:
    """Return the segment of a row of :func:`open_rows`."""
    texts = {name: _from_unicode(row[name]) for name in TEXT_COLUMNS}
    return Segment(**row | texts)


def _row_dicts(path: Path) -> Iterator[dict[str, Any]]:
    for segment in stream(path):
        row = {name: getattr(segment, name) for name in MANIFEST_COLUMNS}
        yield row | {name: _as_unicode(row[name]) for name in TEXT_COLUMNS}


def _as_unicode(text: str) -> str:
    """Return ``text``, marked and as JSON where Arrow cannot hold it: names that are not UTF-8 have lone surrogates."""
    return _MARK + json.dumps(text) if text.startswith(_MARK) or not is_unicode(text) else text


def _from_unicode(text: str) -> str:
    return str(plain_json.parse(text.removeprefix(_MARK))) if text.startswith(_MARK) else text
