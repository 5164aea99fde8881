"""Where a hub name is loaded from: a copy in the cache of the hub, or the hub."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper.checkpoint import hub
from lsa_whisper.checkpoint.description import PREPROCESSOR_FILES
from lsa_whisper.checkpoint.tensor_shapes import weight_files
from lsa_whisper.checkpoint.token_table import TOKENIZER_FILES
from lsa_whisper.errors import CheckpointError


def hub_source(name: str) -> str:
    """Return the folder of a cached model, or the name itself if it is to be downloaded.

    A cached model is used as it is; the hub is not asked for a newer one.

    Raises:
        CheckpointError: it is not in the cache, and the hub cannot be reached within 1.5 s.
    """
    snapshot = cached_snapshot(name)
    if snapshot is not None:
        return str(snapshot)
    require_hub(name)
    return name


def require_hub(name: str, subject: str = "") -> None:
    """Return if a model can be downloaded.

    Args:
        name: the hub name.
        subject: words before the name in the message.

    Raises:
        CheckpointError: the hub cannot be reached.
    """
    if hub.is_reachable():
        return
    reason = "HF_HUB_OFFLINE is set" if hub.is_offline() else "the Hugging Face hub cannot be reached"
    raise CheckpointError(
        f"{subject}{name}: not on this machine, and {reason}; connect once to fetch it, or give the path of a local "
        "folder instead, such as a copy made with 'hf download NAME --local-dir FOLDER' on another machine"
    )


def cached_snapshot(name: str) -> Path | None:
    """Return the folder of a completely cached model, ``None`` if there is none."""
    snapshot = hub.cached_snapshots(name).get(name)
    if snapshot is None:
        return None
    needed = (("generation_config.json",), PREPROCESSOR_FILES, TOKENIZER_FILES)
    try:
        weight_files(snapshot)
    except CheckpointError:
        return None
    return snapshot if all(any((snapshot / name).exists() for name in names) for names in needed) else None
