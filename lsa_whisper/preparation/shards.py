"""A manifest with its audio -> Parquet shards, for training on machines without (fast) access to the recordings.

A shard has the manifest's columns and ``audio``, a struct of ``bytes`` (the window as FLAC: 16 bits, 16 kHz, mono) and
``path``, as ``datasets`` requires:
``load_dataset("parquet", data_files={"train": "DATA/train-*.parquet"}, streaming=True)``, then
``.cast_column("audio", Audio())`` to decode it. Each shard holds consecutive rows of the manifest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lsa_whisper.audio import Recording
from lsa_whisper.audio.clip import encode_audio
from lsa_whisper.manifest import Segment, describe_row, stream
from lsa_whisper.preparation.parallel import map_parallel

ROW_GROUP = 32
"""Rows written and read at once: some 20 MB of FLAC."""


class Shard(NamedTuple):
    """Rows ``start:stop`` of a manifest, and the file that they are written to."""

    manifest: Path
    start: int
    stop: int
    name: str


def plan(manifest: Path, split: str, rows: int, shards: int) -> list[Shard]:
    """Return ``shards`` shards of ``split`` of nearly equal size; fewer if there are fewer rows, but at least one.

    >>> [(shard.start, shard.stop, shard.name) for shard in plan(Path("m"), "dev", 5, 2)]
    [(0, 2, 'dev-00000-of-00002.parquet'), (2, 5, 'dev-00001-of-00002.parquet')]
    """
    count = max(1, min(shards, rows))
    return [
        Shard(manifest, rows * at // count, rows * (at + 1) // count, f"{split}-{at:05}-of-{count:05}.parquet")
        for at in range(count)
    ]


def write_shards(shards: list[Shard], out: Path, processes: int) -> None:
    """Write each of ``shards`` to ``out`` under a hidden name (:func:`partial_name`).

    Raises:
        AudioError: A recording can no longer be read.
    """
    with closing(map_parallel(partial(_write, out=out), shards, processes, name=lambda shard: shard.name)) as written:
        for _ in written:
            pass


def partial_name(name: str) -> str:
    """Return the hidden name that the file ``name`` of the prepared folder has until all files are written."""
    return f".{name}.partial"


def _write(shard: Shard, *, out: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"float": pa.float64(), "str": pa.string()}
    columns = [(field.name, kinds[str(field.type)]) for field in dataclasses.fields(Segment)]
    schema = pa.schema([("audio", pa.struct([("bytes", pa.binary()), ("path", pa.string())])), *columns])
    # Statistics and dictionaries of audio would double its memory without use.
    texts = [name for name in schema.names if name != "audio"]
    path = out / partial_name(shard.name)
    # Arrow cannot open a file whose name is not UTF-8.
    with path.open("wb") as sink, pq.ParquetWriter(sink, schema, use_dictionary=texts, write_statistics=texts) as file:
        rows = islice(stream(shard.manifest, start=shard.start), shard.stop - shard.start)
        opened = lru_cache(maxsize=1)(Recording.open)  # windows of one recording are consecutive
        while group := [_row(segment, out.resolve(), opened) for segment in islice(rows, ROW_GROUP)]:
            file.write_table(pa.Table.from_pylist(group, schema), row_group_size=ROW_GROUP)


def _row(segment: Segment, folder: Path, opened: Callable[[str], Recording]) -> dict[str, Any]:
    span = segment.span
    _, sound = encode_audio(opened(segment.audio_filepath).load(span), mp3=False)
    row = describe_row(segment, folder)
    # Parquet cannot hold a name that is not UTF-8; the audio is found without it.
    row |= {name: value.encode(errors="replace").decode() for name, value in row.items() if isinstance(value, str)}
    name = f"{Path(row['audio_filepath']).stem}-{span.start_ms}-{span.end_ms}.flac"
    return {"audio": {"bytes": sound, "path": name}, **row}
