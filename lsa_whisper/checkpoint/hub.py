"""The Hugging Face hub: what of it is on this machine, whether it can be reached, and where a name is loaded from."""

from __future__ import annotations

import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsa_whisper.checkpoint.description import PREPROCESSOR_FILES
from lsa_whisper.checkpoint.stored_weights import weight_files
from lsa_whisper.checkpoint.token_table import TOKENIZER_FILES
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE
from lsa_whisper.checkpoint.verification import is_local
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system.machine import hub_cache_folder

_REACHABLE_WITHIN_S = 1.5
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_YES = ("1", "ON", "YES", "TRUE")
_COPY = (
    "give the path of a local folder instead, such as a copy made with 'hf download NAME --local-dir FOLDER' on "
    "another machine"
)


def cached_snapshots(name: str | None = None) -> dict[str, Path]:
    """Return the folders of cached Whisper models by hub name, sorted.

    A model counts if its settings and its weights are there. With ``name``, only that one is looked for.
    """
    pattern = f"models--{name.replace('/', '--')}" if name else "models--*--*"
    snapshots = {}
    for folder in sorted(hub_cache_folder().glob(pattern)):
        for snapshot in sorted((folder / "snapshots").glob("*")):
            if (snapshot / "config.json").exists() and any(snapshot.glob("model*.safetensors")):
                snapshots[folder.name.removeprefix("models--").replace("--", "/", 1)] = snapshot
    return snapshots


def is_offline() -> bool:
    """Return whether the user's environment forbids access to the hub."""
    return any(os.environ.get(variable, "").upper() in _YES for variable in _OFFLINE)


@contextmanager
def offline() -> Iterator[None]:
    """Let no library ask the hub in the block; what is in the cache is found.

    The environment variable is read only once, when ``huggingface_hub`` is imported.
    """
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def is_reachable() -> bool:
    """Return whether the hub answers within 1.5 seconds; nothing but the request for its first page is sent.

    The request runs in a separate thread, because looking up a host name can take longer than any time limit.
    """
    if is_offline():
        return False
    answered: list[bool] = []
    thread = threading.Thread(target=lambda: answered.append(_answers()), daemon=True)
    thread.start()
    thread.join(_REACHABLE_WITHIN_S)
    return answered == [True]


def _answers() -> bool:
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    try:
        with urllib.request.urlopen(urllib.request.Request(endpoint, method="HEAD"), timeout=_REACHABLE_WITHIN_S):
            return True
    except urllib.error.HTTPError:
        return True  # an answer, if not a welcome
    except (OSError, ValueError):
        return False


def hub_source(name: str) -> str:
    """Return the folder of a cached model, or the name itself if it is to be downloaded.

    A cached model is used as it is; the hub is not asked for a newer one.

    Raises:
        CheckpointError: It is not in the cache, and the hub cannot be reached within 1.5 s.
    """
    snapshot = cached_snapshot(name)
    if snapshot is not None:
        return str(snapshot)
    require_hub(name)
    return name


def require_hub(name: str, *, subject: str = "", remedy: str = _COPY) -> None:
    """Return if a model can be downloaded.

    ``subject`` stands before the name in the message, and ``remedy`` says what to do without a network.

    Raises:
        CheckpointError: The hub cannot be reached.
    """
    if is_reachable():
        return
    reason = "HF_HUB_OFFLINE is set" if is_offline() else "the Hugging Face hub cannot be reached"
    raise CheckpointError(f"{subject}{name}: not on this machine, and {reason}; connect once to fetch it, or {remedy}")


def model_folder(model: str | Path) -> Path | None:
    """Return the folder of a model: its own, or that in the cache; ``None`` for one that is to be downloaded."""
    return Path(model) if is_local(model) else cached_snapshot(str(model))


def folder_of_weights(path: str) -> Path | None:
    """Return the folder with the weights of a model; ``None`` for an adapter or a model that is to be downloaded."""
    folder = model_folder(path)
    return None if folder is None or (folder / ADAPTER_FILE).exists() else folder


def cached_snapshot(name: str) -> Path | None:
    """Return the folder of a completely cached model, ``None`` if there is none."""
    snapshot = cached_snapshots(name).get(name)
    if snapshot is None:
        return None
    files = (("generation_config.json",), PREPROCESSOR_FILES, TOKENIZER_FILES)
    try:
        weight_files(snapshot)
    except CheckpointError:
        return None
    return snapshot if all(any((snapshot / name).exists() for name in names) for names in files) else None
