"""What of the Hugging Face hub is on this machine, and whether the hub can be reached."""

from __future__ import annotations

import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_REACHABLE_WITHIN_S = 1.5
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_YES = ("1", "ON", "YES", "TRUE")


def hub_cache_folder() -> Path:
    """Return the folder of the hub's cache; it need not exist."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("HF_HOME") or Path(cache) / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def cached_snapshots(name: str | None = None) -> dict[str, Path]:
    """Return the folders of cached Whisper models by hub name, sorted.

    A model counts if its settings and its weights are there.

    Args:
        name: Only look for this one.
    """
    pattern = f"models--{name.replace('/', '--')}" if name else "models--*--*"
    found = {}
    for folder in sorted(hub_cache_folder().glob(pattern)):
        for snapshot in sorted((folder / "snapshots").glob("*")):
            if (snapshot / "config.json").exists() and any(snapshot.glob("model*.safetensors")):
                found[folder.name.removeprefix("models--").replace("--", "/", 1)] = snapshot
    return found


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
