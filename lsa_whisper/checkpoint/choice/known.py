"""The models that this machine knows: chosen, trained here, shipped, or in the cache of the hub."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint import hub, is_local
from lsa_whisper.checkpoint.choice.choose import MODEL_VARIABLE, resolve_model
from lsa_whisper.checkpoint.choice.settings import read_settings
from lsa_whisper.system import plain_json
from lsa_whisper.system.shipped import NANO, shipped


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
    chosen = os.environ.get(MODEL_VARIABLE) or settings.chosen
    chosen = str(resolve_model(chosen)) if chosen else None
    if chosen and is_local(chosen):
        chosen = str(Path(chosen).absolute())
    names = [*([chosen] if chosen else []), *settings.written, str(shipped(NANO).absolute()), *_cached()]
    models = (
        _describe(name, settings.written.get(name, ""), is_chosen=name == chosen) for name in dict.fromkeys(names)
    )
    return KnownModels(tuple(models))


def _lines(model: KnownModel) -> Iterator[str]:
    facts = [f"labels {model.labels}"]
    facts += [f"trained from {model.base}"] if model.base else []
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
    known = plain_json.read_mapping(folder / "lsa_whisper.json")
    base = _part(known, "recipe", "model").get("base") or plain_json.read_mapping(folder / "adapter_config.json").get(
        "base_model_name_or_path"
    )
    labels = _part(known, "labels").get("style") or "fluent"
    best = [
        f"dev {key.removeprefix('eval_')} {value:.3g}"
        for key, value in _part(known, "provenance", "best").items()
        if key != "step" and isinstance(value, int | float)
    ]
    return KnownModel(name, str(base or ""), str(labels), scores or ", ".join(best), is_chosen)


def _part(known: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = known.get(key)
        known = inner if isinstance(inner, dict) else {}
    return known
