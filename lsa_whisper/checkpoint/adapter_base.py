"""The base model of an adapter: where it is now, and whether it is the one that the adapter was trained on.

An adapter's ``adapter_config.json`` names its base by a path or a hub name, and ``lsa_whisper.json`` records it::

    "base": {"name": "nano", "path": "../../models/nano", "weights_sha256": "0f8e..."}

The path is relative to the adapter's folder, so the two can be moved together.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.stored_weights import weight_files
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json
from lsa_whisper.checkpoint.verification import is_local, read_metadata, verify_checkpoint
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system.shipped import NANO, shipped

_KEY = "base_model_name_or_path"


def base_of(folder: Path) -> str:
    """Return the base model of an adapter folder: a folder or a hub name.

    A relative path is resolved against the adapter's folder, the folders above it, and the current folder.

    Raises:
        CheckpointError: The adapter does not name its base, or the base has moved or was replaced by another model.
    """
    name = read_json(folder / ADAPTER_FILE).get(_KEY)
    if not name:
        raise CheckpointError(f"{folder / ADAPTER_FILE}: names no base model; add {_KEY}")
    name, record = str(name), _record(folder)
    folders = [place for place in _places(folder, name, record) if place.is_dir()]
    if not folders and not is_local(name):
        return name
    sha256 = record.get("weights_sha256")
    if not folders:
        weights = f" (weights {str(sha256)[:12]})" if sha256 else ""
        raise CheckpointError(
            f"{folder}: its base model {name} does not exist{weights}; restore it, or set {_KEY} in {ADAPTER_FILE} to "
            "where it is now"
        )
    base = next((place for place in folders if not sha256 or _has_weights(place, str(sha256))), folders[0])
    if (base / ADAPTER_FILE).exists():
        raise CheckpointError(f"{folder}: its base model {name} is an adapter itself; export that one merged first")
    verify_checkpoint(base)
    if sha256 and not _has_weights(base, str(sha256)):
        raise CheckpointError(
            f"{folder}: its base model {base} has other weights than the one it was trained on "
            f"({str(sha256)[:12]}); set {_KEY} in {ADAPTER_FILE} to that one"
        )
    return str(base)


def _record(folder: Path) -> Mapping[str, Any]:
    base = read_metadata(folder).get("base")
    return base if isinstance(base, dict) else {}


def _places(folder: Path, name: str, record: Mapping[str, Any]) -> Iterator[Path]:
    """Yield where the base may be, the most probable place first."""
    yield folder / name  # an absolute path stays what it is
    if is_local(name):
        yield from (above / name for above in folder.resolve().parents)
        yield Path(name)
    if record.get("name") == Path(name).name and isinstance(record.get("path"), str):
        yield folder.resolve() / record["path"]
        if record["name"] == Path(NANO).name:
            yield shipped(NANO)


def _has_weights(base: Path, sha256: str) -> bool:
    try:
        return weights_sha256(base) == sha256
    except CheckpointError:
        return False


def weights_sha256(folder: Path) -> str:
    """Return the SHA-256 of a model folder's weights.

    Raises:
        CheckpointError: It has none.
    """
    summary = hashlib.sha256()
    for file in weight_files(folder):
        summary.update(_sha256(file, file.stat().st_mtime_ns, file.stat().st_size))
    return summary.hexdigest()


@functools.lru_cache(maxsize=64)
def _sha256(file: Path, changed_ns: int, size: int) -> bytes:
    """Return the hash of a file, computed once per process for each ``changed_ns`` and ``size``."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def record_base(out: Path, place: Path) -> dict[str, str]:
    """Return the entry about the base for an adapter's metadata, and make the base's path absolute.

    Plain PEFT resolves a relative path against the current folder. ``out`` is the folder that the adapter was written
    to, ``place`` the one that it will be in.
    """
    settings = read_json(out / ADAPTER_FILE)
    name = str(settings.get(_KEY) or "")
    if not name or not is_local(name) or not Path(name).is_dir():
        return {"name": name}
    base = Path(name).resolve()
    settings[_KEY] = str(base)
    (out / ADAPTER_FILE).write_text(json.dumps(settings, indent=2, sort_keys=True), encoding="utf-8")
    record = {"name": base.name, "path": os.path.relpath(base, place.resolve())}
    return record | {"weights_sha256": weights_sha256(base)}
