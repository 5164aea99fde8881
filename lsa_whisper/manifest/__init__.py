"""``Segment``: one training window, one JSON line; read, write and check manifests.

The column names are those NeMo and lhotse use, so a manifest of another tool with only ``audio_filepath``, ``offset``,
``duration`` and ``text`` loads too, and unknown columns are ignored.

Paths: a recording that lies next to the prepared folder or in it (below the parent of the manifest's folder) is written
relative to the manifest, so that both can be moved together; any other recording is written as an absolute path, so
that the prepared folder can be moved alone.
"""

from lsa_whisper.manifest.files import describe_row, prompt_kind, read, serialize_row, sha256, stream, write
from lsa_whisper.manifest.rows import from_row, open_rows
from lsa_whisper.manifest.segment import (
    SPLITS,
    TIMESTAMP,
    Segment,
    WordTime,
    is_unicode,
    parse_row,
    parse_word_times,
    serialize_word_times,
)
from lsa_whisper.manifest.shard_audio import is_manifest, manifest_files, open_audio

__all__ = [
    "SPLITS",
    "TIMESTAMP",
    "Segment",
    "WordTime",
    "describe_row",
    "from_row",
    "is_manifest",
    "is_unicode",
    "manifest_files",
    "open_audio",
    "open_rows",
    "parse_row",
    "parse_word_times",
    "prompt_kind",
    "read",
    "serialize_row",
    "serialize_word_times",
    "sha256",
    "stream",
    "write",
]
