"""The folder of a checkpoint: is it one, what is in it, and how it is replaced in one step (no torch here)."""

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
"""Where transformers 4 looks for what ``tokenizer.json`` holds."""
CALIBRATION_FILE = "calibration.json"
"""What the model's confidences are worth; it changes no word of a transcript."""
_OUR_FOLDERS = ("build", "corpora", "models", "runs")
_NEW, _OLD = ".unfinished-", ".replaced-"
_CONTENT = (".json", ".safetensors", ".txt", ".bin")


def is_local(path: str | Path) -> bool:
    """Tell a folder from a hub name; what looks like a path is one, so that a typing error is never looked up.

    So is what would lie in a folder that is here, or in those that this project's commands write to.

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
    """Tell whether a folder holds a CTranslate2 model."""
    return (Path(path) / "model.bin").exists() and any(Path(path).glob("vocabulary.*"))


def verify(folder: Path) -> None:
    """Return when a folder can be loaded by transformers.

    Raises:
        CheckpointError: it is missing, incomplete, pickled, or not Whisper, or asks for code of its own.
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
        raise CheckpointError(f"{folder}: has no config.json, so it is no model; give the folder that finetune wrote")
    kind = read_json(folder / "config.json").get("model_type")
    if kind != "whisper":
        raise CheckpointError(f"{folder}: holds a {kind or 'nameless'} model, not Whisper; choose a Whisper model")
    if not any(folder.glob("model*.safetensors")):
        raise CheckpointError(
            f"{folder}: has no model.safetensors (pickled weights are not read); save it again as safetensors"
        )


def base_of(folder: Path) -> str:
    """Return where the base model of an adapter folder lies: a path (also relative to the adapter) or a hub name.

    Raises:
        CheckpointError: the adapter does not say, or its base is a folder that is not there.
    """
    name = read_json(folder / ADAPTER_FILE).get("base_model_name_or_path")
    if not name:
        raise CheckpointError(f"{folder / ADAPTER_FILE}: names no base model; add base_model_name_or_path")
    base = folder / str(name) if (folder / str(name)).is_dir() else str(name)
    if not is_local(base):
        return str(base)
    if not Path(base).is_dir():
        raise CheckpointError(f"{folder}: its base model {name} is not there; put it back or correct {ADAPTER_FILE}")
    if (Path(base) / ADAPTER_FILE).exists():
        raise CheckpointError(f"{folder}: its base model {name} is an adapter itself; export that one merged first")
    verify(Path(base))
    return str(base)


def digest(path: str | Path) -> str:
    """Return a short name for the content of a checkpoint: it changes with any file a transcript depends on.

    A hub name cannot be read without loading it and stands for itself.
    """
    if not is_local(path):
        return f"hub:{path}"
    folder = Path(path)
    if not is_converted(folder):
        verify(folder)
    summary = hashlib.sha256()
    labels = read_json(folder / METADATA_FILE).get("labels") if (folder / METADATA_FILE).exists() else None
    summary.update(json.dumps(labels, sort_keys=True).encode())
    # Where a model comes from and how it was trained stand in our file, and change nothing it writes.
    passed_over = {
        METADATA_FILE,
        CALIBRATION_FILE,
        *(TRANSFORMERS_4_FILES if (folder / "tokenizer.json").exists() else ()),
    }
    for file in sorted(folder.iterdir()):
        if file.suffix in _CONTENT and file.name not in passed_over and file.is_file():
            with file.open("rb") as stream:
                summary.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    if (folder / ADAPTER_FILE).exists():
        summary.update(digest(base_of(folder)).encode())
    return summary.hexdigest()[:16]


@contextmanager
def atomic_folder(out: Path) -> Iterator[Path]:
    """Give an empty folder that becomes ``out`` when the block ends well, and vanishes when it does not.

    Raises:
        CheckpointError: ``out`` holds something that is not a checkpoint, or the disk does not take the new one.
    """
    with convert_disk_errors(out, CheckpointError), write_lock(out):
        _recover(out)
        if out.exists() and not (out.is_dir() and _replaceable(out)):
            raise CheckpointError(f"{out}: exists and is not a checkpoint; choose another folder or remove it")
        partial = out.with_name(f".{out.name}{_NEW}{uuid4().hex[:8]}")
        partial.mkdir(0o770)  # less what the umask takes away
        try:
            yield partial
            _swap(partial, out)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def tidy(out: Path) -> None:
    """Remove what a call that was killed left beside the checkpoint ``out``, and put back what it had moved aside."""
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
    """Put ``partial`` where ``out`` is; folders cannot be renamed over one another, so the old one steps aside."""
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
