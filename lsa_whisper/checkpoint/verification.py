"""Whether a path is a model folder that can be used (without torch)."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.description import describe_files
from lsa_whisper.checkpoint.stored_weights import weight_files
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json, verify_settings
from lsa_whisper.checkpoint.whisper_constants import SHORT_NAMES
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.labels import Labels
from lsa_whisper.system.files import path_of

METADATA_FILE = "lsa_whisper.json"
CONTENT = (".json", ".safetensors", ".txt", ".bin")
"""Suffixes of the files of a checkpoint."""
ADAPTER_WEIGHTS = "adapter_model.safetensors"
_OUR_FOLDERS = ("build", "corpora", "models", "runs")


def is_local(path: str | Path) -> bool:
    """Return whether ``path`` is a folder, not a hub name.

    Anything that looks like a path is one, so that a mistyped path is never looked up on the hub: also names below an
    existing folder, or below the folders that this project's commands write to.

    >>> is_local("openai/whisper-small"), is_local("./whisper-small"), is_local("models/a/b"), is_local("whisper")
    (False, True, True, True)
    >>> is_local("runs/whisper-large-v3"), is_local("owner/model.safetensors")
    (True, True)
    """
    if isinstance(path, Path) or path_of(path).exists() or Path(path).suffix in CONTENT:
        return True
    if re.fullmatch(r"\w[\w.-]*/[\w.-]+", path) is None:
        return True
    owner = path.partition("/")[0]
    return owner in _OUR_FOLDERS or Path(owner).is_dir()


def absolute_model(model: str | Path) -> str | Path:
    """Return the folder of a model by its whole path, for whoever runs in another folder; a hub name as it is."""
    return Path(model).absolute() if is_local(model) else model


def read_metadata(folder: Path) -> dict[str, Any]:
    """Return what this package wrote about the model in a folder; empty for a model from elsewhere.

    Raises:
        CheckpointError: The file cannot be read.
    """
    path = folder / METADATA_FILE
    content = read_json(path) if path.is_file() else {}
    for part in ("recipe", "provenance"):
        if not isinstance(content.get(part, {}), dict):
            raise CheckpointError(f"{path}: {part}: not a JSON object; write the checkpoint again")
    return content


def is_converted(path: str | Path) -> bool:
    """Return whether a folder holds a CTranslate2 model."""
    return (Path(path) / "model.bin").exists() and any(Path(path).glob("vocabulary.*"))


def verify_checkpoint(folder: Path) -> None:
    """Check that a folder can be used: a Whisper model whose files fit together, or an adapter.

    Raises:
        CheckpointError: It is missing, incomplete, damaged, pickled or not Whisper, refers to code of its own, or its
            files are of different models.
    """
    if not folder.is_dir():
        near, *_ = *get_close_matches(folder.name.removeprefix("whisper-"), (*SHORT_NAMES, "nano"), 1), "base"
        raise CheckpointError(
            f"{folder}: {'is a file, not a model' if folder.is_file() else 'no such folder'}; give a folder with "
            f"config.json and model.safetensors, a hub name owner/model, or a short name such as {near}"
        )
    verify_settings(folder)
    if is_converted(folder):
        raise CheckpointError(
            f"{folder}: holds a CTranslate2 model; use the engine ct2, or the checkpoint it came from"
        )
    _verify_labels(folder)
    if (folder / ADAPTER_FILE).exists():
        if not (folder / ADAPTER_WEIGHTS).exists():
            raise CheckpointError(f"{folder}: has no {ADAPTER_WEIGHTS}; save the adapter again as safetensors")
        return
    if not (folder / "config.json").exists():
        raise CheckpointError(f"{folder}: not a model (no config.json); give the folder that finetune wrote")
    kind = read_json(folder / "config.json").get("model_type")
    if kind != "whisper":
        raise CheckpointError(f"{folder}: holds a {kind or 'nameless'} model, not Whisper; choose a Whisper model")
    weight_files(folder)
    verify_fit(folder)


def _verify_labels(folder: Path) -> None:
    if "labels" not in (ours := read_metadata(folder)):
        return
    try:
        Labels.from_dict(ours["labels"])
    except (LsaWhisperError, TypeError) as error:
        raise CheckpointError(f"{folder / METADATA_FILE}: {error}; save the model again") from error


def verify_fit(folder: Path, base: Path | None = None) -> None:
    """Check that the files of a model fit together; those of an adapter together with its base.

    Raises:
        CheckpointError: They do not.
    """
    for row in describe_files(folder, base):
        if row.state == "problem":
            place = "" if row.fact.startswith(str(folder)) else f"{folder}: "
            raise CheckpointError(f"{place}{row.fact}; {row.remedy}")
