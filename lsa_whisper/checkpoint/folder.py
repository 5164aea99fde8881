"""Checkpoint folders: digest and atomic replacement (without torch)."""

from __future__ import annotations

import glob
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE
from lsa_whisper.checkpoint.verification import (
    CONTENT,
    is_converted,
    is_local,
    read_metadata,
    verify_checkpoint,
    verify_fit,
)
from lsa_whisper.checkpoint.verification import METADATA_FILE as METADATA_FILE
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system.disk import convert_disk_errors, unwritable_reason
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.umask import share_by_umask

TRANSFORMERS_4_FILES = ("vocab.json", "merges.txt", "added_tokens.json")
"""Vocabulary files of transformers 4, redundant with ``tokenizer.json``."""
CALIBRATION_FILE = "calibration.json"
"""Calibration of the model's confidences; it does not affect the words of a transcript."""
_NEW, _OLD = ".unfinished-", ".replaced-"


def verify_changeable(model: Path) -> None:
    """Return if a file can be added to the folder of a model.

    Raises:
        CheckpointError: It is not a folder, or cannot be written to.
    """
    if not model.is_dir():
        raise CheckpointError(f"{model}: no such folder; name the folder of a model, where the result is stored")
    if reason := unwritable_reason(model):
        raise CheckpointError(f"{model}: the result is stored there ({reason}); copy the model to a folder of your own")


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
    ours = read_metadata(folder)
    summary.update(json.dumps(ours.get("labels"), sort_keys=True).encode())
    summary.update(json.dumps(ours["trim"], sort_keys=True).encode() if "trim" in ours else b"")
    # Provenance and recipe in the metadata file do not affect transcripts.
    besides = {METADATA_FILE, CALIBRATION_FILE, *(TRANSFORMERS_4_FILES if (folder / "tokenizer.json").exists() else ())}
    for file in sorted(folder.iterdir()):
        if file.suffix in CONTENT and file.name not in besides and file.is_file():
            with file.open("rb") as stream:
                summary.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    if (folder / ADAPTER_FILE).exists():
        base = base_of(folder)
        if is_local(base):
            verify_fit(folder, Path(base))
        summary.update(digest(base).encode())
    return summary.hexdigest()[:16]


@contextmanager
def atomic_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces ``out`` if the block succeeds and is removed if it fails.

    Raises:
        CheckpointError: ``out`` holds something that is not a checkpoint, or the disk refuses the new one.
    """
    with convert_disk_errors(out, CheckpointError), write_lock(out):
        _recover(out)
        verify_replaceable(out)
        partial = out.with_name(f".{out.name}{_NEW}{uuid4().hex[:8]}")
        partial.mkdir(0o770)  # minus the umask
        try:
            yield partial
            share_by_umask(partial)
            _swap(partial, out)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def remove_folder_leftovers(out: Path) -> None:
    """Remove what a killed process left next to the checkpoint ``out``; restore what it had moved aside."""
    with write_lock(out):
        _recover(out)


def _recover(out: Path) -> None:
    for aside in out.parent.glob(f".{glob.escape(out.name)}{_OLD}*"):
        if aside.is_symlink():  # not written by this program
            continue
        if not out.exists() and (aside / out.name).is_dir():
            (aside / out.name).rename(out)
        shutil.rmtree(aside, ignore_errors=True)
    for leftover in out.parent.glob(f".{glob.escape(out.name)}{_NEW}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def verify_replaceable(out: Path) -> None:
    """Check that a checkpoint can be written to ``out``.

    Raises:
        CheckpointError: ``out`` holds something that is not a checkpoint, or cannot be looked into.
    """
    try:
        is_free = not out.exists() or (out.is_dir() and _replaceable(out))
    except OSError as error:
        raise CheckpointError(f"{out}: {error.strerror}; choose another folder") from error
    if not is_free:
        raise CheckpointError(f"{out}: exists and is not a checkpoint; choose another folder or remove it")


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
