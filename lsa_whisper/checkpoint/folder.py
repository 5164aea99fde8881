"""Checkpoint folders: recognition, verification, digest and atomic replacement (without torch)."""

from __future__ import annotations

import glob
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json, verify_settings
from lsa_whisper.disk import convert_disk_errors
from lsa_whisper.errors import CheckpointError
from lsa_whisper.lock import write_lock

METADATA_FILE = "lsa_whisper.json"
TRANSFORMERS_4_FILES = ("vocab.json", "merges.txt", "added_tokens.json")
"""Vocabulary files of transformers 4, redundant with ``tokenizer.json``."""
CALIBRATION_FILE = "calibration.json"
"""Calibration of the model's confidences; it does not affect the words of a transcript."""
_OUR_FOLDERS = ("build", "corpora", "models", "runs")
_NEW, _OLD = ".unfinished-", ".replaced-"
_CONTENT = (".json", ".safetensors", ".txt", ".bin")


def is_local(path: str | Path) -> bool:
    """Return whether ``path`` is a folder, not a hub name.

    Anything that looks like a path is one, so that a mistyped path is never looked up on the hub: also names below an
    existing folder, or below the folders that this project's commands write to.

    >>> is_local("openai/whisper-small"), is_local("./whisper-small"), is_local("models/a/b"), is_local("whisper")
    (False, True, True, True)
    >>> is_local("runs/whisper-large-v3"), is_local("owner/model.safetensors")
    (True, True)
    """
    if isinstance(path, Path) or Path(path).exists() or Path(path).suffix in _CONTENT:
        return True
    if re.fullmatch(r"\w[\w.-]*/[\w.-]+", path) is None:
        return True
    owner = path.partition("/")[0]
    return owner in _OUR_FOLDERS or Path(owner).is_dir()


def is_converted(path: str | Path) -> bool:
    """Return whether a folder holds a CTranslate2 model."""
    return (Path(path) / "model.bin").exists() and any(Path(path).glob("vocabulary.*"))


def verify_checkpoint(folder: Path) -> None:
    """Check that transformers can load a folder.

    Raises:
        CheckpointError: it is missing, incomplete, pickled or not Whisper, or refers to code of its own.
    """
    if not folder.is_dir():
        raise CheckpointError(
            f"{folder}: no such folder; give a folder with config.json and model.safetensors, or a hub name owner/model"
        )
    verify_settings(folder)
    if is_converted(folder):
        raise CheckpointError(
            f"{folder}: holds a CTranslate2 model; use the engine ct2, or the checkpoint it came from"
        )
    if (folder / ADAPTER_FILE).exists():
        if not (folder / "adapter_model.safetensors").exists():
            raise CheckpointError(f"{folder}: has no adapter_model.safetensors; save the adapter again as safetensors")
        return
    if not (folder / "config.json").exists():
        raise CheckpointError(f"{folder}: not a model (no config.json); give the folder that finetune wrote")
    kind = read_json(folder / "config.json").get("model_type")
    if kind != "whisper":
        raise CheckpointError(f"{folder}: holds a {kind or 'nameless'} model, not Whisper; choose a Whisper model")
    if not any(folder.glob("model*.safetensors")):
        raise CheckpointError(
            f"{folder}: has no model.safetensors (pickled weights are not read); save it again as safetensors"
        )


def base_of(folder: Path) -> str:
    """Return the base model of an adapter folder: a path (also relative to the adapter) or a hub name.

    Raises:
        CheckpointError: the adapter does not name its base, or the base is a folder that does not exist.
    """
    name = read_json(folder / ADAPTER_FILE).get("base_model_name_or_path")
    if not name:
        raise CheckpointError(f"{folder / ADAPTER_FILE}: names no base model; add base_model_name_or_path")
    base = folder / str(name) if (folder / str(name)).is_dir() else str(name)
    if not is_local(base):
        return str(base)
    if not Path(base).is_dir():
        raise CheckpointError(f"{folder}: its base model {name} does not exist; restore it or correct {ADAPTER_FILE}")
    if (Path(base) / ADAPTER_FILE).exists():
        raise CheckpointError(f"{folder}: its base model {name} is an adapter itself; export that one merged first")
    verify_checkpoint(Path(base))
    return str(base)


def digest(path: str | Path) -> str:
    """Return a short hash of a checkpoint's content: it changes with any file that affects transcripts.

    A hub name, which would have to be downloaded, is returned as it is.
    """
    if not is_local(path):
        return f"hub:{path}"
    folder = Path(path)
    if not is_converted(folder):
        verify_checkpoint(folder)
    summary = hashlib.sha256()
    labels = read_json(folder / METADATA_FILE).get("labels") if (folder / METADATA_FILE).exists() else None
    summary.update(json.dumps(labels, sort_keys=True).encode())
    # Provenance and recipe in the metadata file do not affect transcripts.
    skipped = {
        METADATA_FILE,
        CALIBRATION_FILE,
        *(TRANSFORMERS_4_FILES if (folder / "tokenizer.json").exists() else ()),
    }
    for file in sorted(folder.iterdir()):
        if file.suffix in _CONTENT and file.name not in skipped and file.is_file():
            with file.open("rb") as stream:
                summary.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    if (folder / ADAPTER_FILE).exists():
        summary.update(digest(base_of(folder)).encode())
    return summary.hexdigest()[:16]


@contextmanager
def atomic_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces ``out`` if the block succeeds and is removed if it fails.

    Raises:
        CheckpointError: ``out`` holds something that is not a checkpoint, or the disk refuses the new one.
    """
    with convert_disk_errors(out, CheckpointError), write_lock(out):
        _recover(out)
        if out.exists() and not (out.is_dir() and _replaceable(out)):
            raise CheckpointError(f"{out}: exists and is not a checkpoint; choose another folder or remove it")
        partial = out.with_name(f".{out.name}{_NEW}{uuid4().hex[:8]}")
        partial.mkdir(0o770)  # minus the umask
        try:
            yield partial
            _swap(partial, out)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def remove_folder_leftovers(out: Path) -> None:
    """Remove what a killed process left next to the checkpoint ``out``; restore what it had moved aside."""
    with write_lock(out):
        _recover(out)


def _recover(out: Path) -> None:
    for aside in out.parent.glob(f".{glob.escape(out.name)}{_OLD}*"):
        if not out.exists() and (aside / out.name).is_dir():
            (aside / out.name).rename(out)
        shutil.rmtree(aside, ignore_errors=True)
    for unfinished in out.parent.glob(f".{glob.escape(out.name)}{_NEW}*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def _replaceable(out: Path) -> bool:
    names = {file.name for file in out.iterdir()}
    return not names or bool(names & {METADATA_FILE, ADAPTER_FILE}) or {"config.json", "model.safetensors"} <= names


def _swap(partial: Path, out: Path) -> None:
    """Replace ``out`` by ``partial``; a folder cannot be renamed over another, so the old one is moved aside first."""
    if not out.exists():
        partial.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}{_OLD}", dir=out.parent)) / out.name
    out.rename(old)
    try:
        partial.rename(out)
    except OSError:
        old.rename(out)
        raise
    finally:
        shutil.rmtree(old.parent, ignore_errors=True)
