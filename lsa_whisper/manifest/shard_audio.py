"""The audio inside Parquet shards, by row; the files of a manifest that is split into shards."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from lsa_whisper.errors import ManifestError

_SPLIT_FILE = ("train-", "dev-", "test-")


def manifest_files(path: Path | str) -> list[Path]:
    """Return the files of the manifest at ``path``: itself, or the shards that a folder or a glob names, in order.

    Raises:
        ManifestError: A folder or glob has no shards, a folder has those of several splits, or ``path`` is unreadable.
    """
    path = Path(path)
    try:
        return _manifest_files(path)
    except OSError as error:
        raise unreadable_manifest(path, error) from error


def unreadable_manifest(path: Path, error: OSError) -> ManifestError:
    """Return the error that tells that the operating system does not let the manifest at ``path`` be read."""
    return ManifestError(f"{path}: cannot be read ({error.strerror or error}); check the path and its permissions")


def _manifest_files(path: Path) -> list[Path]:
    if path.is_dir():
        shards = sorted(path.glob("*.parquet"))
        splits = [split for split in _SPLIT_FILE if any(shard.name.startswith(split) for shard in shards)]
        if len(splits) > 1:
            raise ManifestError(f"{path}: has shards of several splits; name one, such as {path}/{splits[0]}*.parquet")
    elif any(sign in path.name for sign in "*?[") and not path.exists():
        shards = sorted(path.parent.glob(path.name))
    else:
        return [path]
    if not shards:
        raise ManifestError(f"{path}: no Parquet shards there; make some with 'lsa-whisper prepare --shards'")
    return shards


def is_manifest(path: Path | str) -> bool:
    """Return whether there is a manifest at ``path``: a file, or the shards of a folder or glob."""
    try:
        return all(file.is_file() for file in manifest_files(path))
    except ManifestError:
        return False


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """Yield the ``pyarrow.parquet.ParquetFile`` at ``path``; Arrow itself cannot open names that are not UTF-8."""
    import pyarrow.parquet as pq

    with path.open("rb") as source, pq.ParquetFile(source) as file:
        yield file


class ShardAudio:
    """The encoded audio of each row of some shards, in the order of the rows of the manifest."""

    def __init__(self, files: list[Path], rows: list[int]):
        """Read from ``files``, which have as many ``rows``; nothing is opened yet, so that workers can copy it."""
        self._files, self._ends = files, list(accumulate(rows))

    def read(self, index: int) -> bytes:
        """Return the audio file of row ``index``.

        Raises:
            ManifestError: The row has no audio, or the shard can no longer be read.
        """
        at = bisect_right(self._ends, index)
        first = self._ends[at - 1] if at else 0
        path = self._files[at]
        try:
            data = _audio_of(path, index - first)
        except OSError as error:
            raise ManifestError(f"{path}: can no longer be read ({error}); was it moved or changed?") from error
        if not data:
            raise ManifestError(f"{path}:{index - first + 1}: has no audio inside; prepare the shards again")
        return data


def open_audio(path: Path | str) -> ShardAudio | None:
    """Return the audio inside the shards at ``path``, ``None`` if they have none, or the manifest is JSON lines.

    Raises:
        ManifestError: There are no shards, or one cannot be read.
    """
    files = manifest_files(path)
    if any(shard.suffix != ".parquet" for shard in files):
        return None
    rows = []
    for shard in files:
        try:
            with opened_parquet(shard) as file:
                if "audio" not in file.schema_arrow.names:
                    return None
                rows.append(file.metadata.num_rows)
        except (OSError, ValueError) as error:
            raise ManifestError(f"{shard}: not a Parquet file that can be read; prepare the data again") from error
    return ShardAudio(files, rows)


def _audio_of(path: Path, row: int) -> bytes | None:
    group, first = _group_of(path, row)
    value: dict[str, Any] | None = _group_audio(path, group)[row - first].as_py()
    return value["bytes"] if value else None


def _group_of(path: Path, row: int) -> tuple[int, int]:
    """Return the row group that holds ``row``, and its first row."""
    ends = _group_ends(path)
    group = bisect_right(ends, row)
    return group, ends[group - 1] if group else 0


@lru_cache(maxsize=4096)
def _group_ends(path: Path) -> list[int]:
    with opened_parquet(path) as file:
        counts = (file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups))
        return list(accumulate(counts))


@lru_cache(maxsize=2)
def _group_audio(path: Path, group: int) -> Any:
    """Return the audio column of one row group: some 20 MB of FLAC."""
    with opened_parquet(path) as file:
        return file.read_row_group(group, columns=["audio"]).column("audio")
