"""Which models this machine knows, and which of them is used where none is named.

That is the one that was named, that of the environment, the chosen one, or a stock Whisper. Nothing here loads a model
library.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint import hub
from lsa_whisper.checkpoint.stored_labels import read_writing
from lsa_whisper.checkpoint.user_settings import read_settings, settings_file, write_settings
from lsa_whisper.checkpoint.verification import is_converted, is_local, verify_checkpoint
from lsa_whisper.checkpoint.whisper_constants import SHORT_NAMES
from lsa_whisper.system import plain_json
from lsa_whisper.system.files import path_of
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
    name = model or os.environ.get(MODEL_VARIABLE) or read_settings().chosen
    if name:
        name = resolve_model(name)
        if not is_local(name):
            _require_available(str(name))
        return name
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
    target = resolve_model(model)
    if is_local(target):
        if not is_converted(target):
            verify_checkpoint(Path(target))
        target = Path(target).absolute()
    settings = read_settings()
    write_settings(replace(settings, chosen=str(target)))
    left_out = read_writing(target).coverage.sentence()
    remark = f"{target} is used where no model is named (stored in {settings_file()})"
    return f"{remark}\nNOTE: {left_out}" if left_out else remark


def resolve_model(model: str | Path) -> str | Path:
    """Return a checkpoint folder or hub name; ``nano`` and ``base`` are models, unless there is such a folder.

    >>> resolve_model("openai/whisper-small"), resolve_model("large-v3")
    ('openai/whisper-small', 'openai/whisper-large-v3')
    """
    if path_of(model).exists():
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


@dataclass(frozen=True)
class KnownModel:
    """A model and what is known about it without loading it.

    Attributes:
        name: What to give as ``--model``: a folder or a hub name.
        base: The model it was trained from; empty if unknown.
        labels: The style of its transcripts, such as ``chat``; ``fluent`` for a stock model.
        scores: How good it is, in a few words; empty if unknown.
        is_chosen: Whether it is used where no model is named.
        is_missing: Whether its folder has gone.
    """

    name: str
    base: str = ""
    labels: str = "fluent"
    scores: str = ""
    is_chosen: bool = False
    is_missing: bool = False


@dataclass(frozen=True)
class KnownModels:
    """The result of :func:`list_models`."""

    models: tuple[KnownModel, ...]

    def table(self) -> str:
        """Return the models as text, a paragraph for each; paths are not wrapped."""
        lines = [line for model in self.models for line in _lines(model)]
        if not any(model.is_chosen for model in self.models):
            lines += ["", "No model is chosen: lsa-whisper models use PATH_OR_NAME"]
        return "\n".join(lines)


def list_models() -> KnownModels:
    """Return the models that this machine knows, the chosen one first.

    Those are: the model of ``LSA_WHISPER_MODEL`` or that chosen with ``lsa-whisper models use``, checkpoints that
    ``finetune`` and ``demo`` wrote, the small model that is shipped, and Whisper models in the cache of the hub.

    Raises:
        LsaWhisperError: If the configuration file cannot be read.
    """
    settings = read_settings()
    default = os.environ.get(MODEL_VARIABLE) or settings.chosen
    default = str(resolve_model(default)) if default else None
    if default and is_local(default):
        default = str(Path(default).absolute())
    names = [*([default] if default else []), *settings.written, str(shipped(NANO).absolute()), *_cached()]
    models = (
        _describe(name, settings.written.get(name, ""), is_chosen=name == default) for name in dict.fromkeys(names)
    )
    return KnownModels(tuple(models))


def _lines(model: KnownModel) -> Iterator[str]:
    facts = [f"labels {model.labels}"]
    shipped_one = model.name == str(shipped(NANO).absolute())  # what it was trained from is not shipped
    facts += ["shipped with the program"] if shipped_one else [f"trained from {model.base}"] if model.base else []
    facts += [model.scores] if model.scores else []
    yield f"{'*' if model.is_chosen else ' '} {model.name}"
    yield f"    {'missing' if model.is_missing else '; '.join(facts)}"


def _cached() -> Iterator[str]:
    for name, snapshot in hub.cached_snapshots().items():
        if plain_json.read_mapping(snapshot / "config.json").get("model_type") == "whisper":
            yield name


def _describe(name: str, scores: str, is_chosen: bool) -> KnownModel:
    if not is_local(name):
        return KnownModel(name, labels="fluent (a stock model)", is_chosen=is_chosen)
    folder = Path(name)
    if not folder.is_dir():
        return KnownModel(name, is_chosen=is_chosen, is_missing=True)
    record = plain_json.read_mapping(folder / "lsa_whisper.json")
    base = _part(record, "recipe", "model").get("base") or plain_json.read_mapping(folder / "adapter_config.json").get(
        "base_model_name_or_path"
    )
    labels = _part(record, "labels").get("style") or "fluent"
    best = [
        f"dev {key.removeprefix('eval_')} {value:.3g}"
        for key, value in _part(record, "provenance", "best").items()
        if key != "step" and isinstance(value, int | float)
    ]
    return KnownModel(name, str(base or ""), str(labels), scores or ", ".join(best), is_chosen)


def _part(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = record.get(key)
        record = inner if isinstance(inner, dict) else {}
    return record
