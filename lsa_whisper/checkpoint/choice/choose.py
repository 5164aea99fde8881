"""Which model is used: the one that was named, that of the environment, the chosen one, or a stock Whisper."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lsa_whisper.checkpoint import hub, is_converted, is_local
from lsa_whisper.checkpoint.choice.settings import read_settings, settings_file, write_settings
from lsa_whisper.checkpoint.stored_labels import read_writing
from lsa_whisper.checkpoint.verification import verify_checkpoint
from lsa_whisper.checkpoint.whisper_constants import SHORT_NAMES
from lsa_whisper.system.machine import nvidia_driver
from lsa_whisper.system.shipped import NANO, shipped
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

MODEL_VARIABLE = "LSA_WHISPER_MODEL"
STOCK_ON_GPU = "openai/whisper-large-v3-turbo"
STOCK_ON_CPU = "openai/whisper-small"
_REMEDIES = f"name a local checkpoint folder: --model PATH, {MODEL_VARIABLE}=PATH or 'lsa-whisper models use PATH'"


def choose_model(
    model: str | Path | None = None,
    *,
    device: str = "auto",
    is_training: bool = False,
    report: Callable[[str], None] | None = None,
) -> str | Path:
    """Return the model to use: a checkpoint folder or a hub name.

    The first that is set: ``model``, the environment variable ``LSA_WHISPER_MODEL``, the model chosen with
    ``lsa-whisper models use``, and a stock Whisper that suits the machine.

    Args:
        model: What the caller named; ``None`` or empty if nothing.
        device: Where it is to run; decides the size of the stock model.
        is_training: Whether it is the base of a fine-tuning run; then the remark on disfluencies is omitted.
        report: Receives the line that announces a stock model; by default it goes to standard error.

    Raises:
        CheckpointError: If the choice is a hub model that is neither cached nor within reach.
    """
    named = model or os.environ.get(MODEL_VARIABLE) or read_settings().chosen
    if named:
        named = resolve_model(named)
        if not is_local(named):
            _require_available(str(named))
        return named
    stock = STOCK_ON_GPU if _has_gpu(device) else STOCK_ON_CPU
    _require_available(stock, "no model was named; the stock model ")
    report = report or print_progress
    if is_training:
        report(f"no model was named; starting from {stock}, a stock model (--model names another)")
        return stock
    report(
        f"no model was named; using {stock}, a stock model, which is asked for disfluencies in English and leaves them "
        "out in other languages. For one that has learned them: lsa-whisper finetune YOUR_CORPUS, then lsa-whisper "
        "models use PATH"
    )
    return stock


@private_umask()
def use_model(model: str | Path) -> str:
    """Make ``model`` the one that commands use where none is named; return what was stored.

    Args:
        model: A checkpoint folder, a hub name, or a short name: ``nano``, ``base``.

    Raises:
        CheckpointError: If the folder holds no model that can be loaded.
        LsaWhisperError: If the configuration file cannot be read or written.
    """
    resolved = resolve_model(model)
    if is_local(resolved):
        if not is_converted(resolved):
            verify_checkpoint(Path(resolved))
        resolved = Path(resolved).absolute()
    settings = read_settings()
    write_settings(replace(settings, chosen=str(resolved)))
    left_out = read_writing(resolved).coverage.sentence()
    stored = f"{resolved} is used where no model is named (stored in {settings_file()})"
    return f"{stored}\nNOTE: {left_out}" if left_out else stored


def resolve_model(model: str | Path) -> str | Path:
    """Return a checkpoint folder or hub name; ``nano`` and ``base`` are models, unless there is such a folder.

    >>> resolve_model("openai/whisper-small"), resolve_model("large-v3")
    ('openai/whisper-small', 'openai/whisper-large-v3')
    """
    if Path(model).exists():
        return model
    return shipped(NANO) if str(model) in ("nano", NANO) else SHORT_NAMES.get(str(model), model)


def _require_available(name: str, subject: str = "") -> None:
    if not hub.cached_snapshots(name):
        hub.require_hub(name, subject=subject, remedy=_REMEDIES)


def _has_gpu(device: str) -> bool:
    """Return whether a model would run on a GPU, without loading torch, which takes seconds."""
    if device != "auto":
        return device.startswith("cuda")
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    return nvidia_driver() is not None or shutil.which("nvidia-smi") is not None
