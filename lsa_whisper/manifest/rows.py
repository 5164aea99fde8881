"""Manifests as ``datasets.Dataset``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from lsa_whisper.manifest.files import stream
from lsa_whisper.manifest.segment import MANIFEST_COLUMNS, TEXT_COLUMNS, Segment, is_unicode
from lsa_whisper.system import plain_json

_MARK = "\0json "
_AT_ONCE = 10_000
"""Rows that are Python objects at a time."""


def open_rows(path: Path | str) -> Any:
    """Return the manifest at ``path`` as a ``datasets.Dataset`` in memory; :func:`from_row` makes a segment of a row.

    Rows are checked and their audio paths made absolute first.

    Raises:
        ManifestError: The manifest is missing or malformed.
    """
    import datasets
    import pyarrow

    kinds = {name: pyarrow.string() if name in TEXT_COLUMNS else pyarrow.float64() for name in MANIFEST_COLUMNS}
    rows, schema = _row_dicts(Path(path)), pyarrow.schema(list(kinds.items()))
    parts = []
    while batch := list(itertools.islice(rows, _AT_ONCE)):
        parts.append(pyarrow.Table.from_pylist(batch, schema))
    whole = pyarrow.concat_tables(parts) if parts else schema.empty_table()
    # Without a name of its own, the library would make one of a pickled copy of all rows.
    return datasets.Dataset(datasets.table.InMemoryTable(whole), fingerprint=uuid4().hex)


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
