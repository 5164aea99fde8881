"""Saving of a model as a checkpoint folder, atomically."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.adapter_base import record_base
from lsa_whisper.checkpoint.folder import METADATA_FILE, atomic_folder
from lsa_whisper.checkpoint.loading import quiet_transformers
from lsa_whisper.checkpoint.stored_labels import TaggerWeights, write_retraces
from lsa_whisper.checkpoint.vocabulary import fit_generation_config
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import Labels


def save(
    out: str | Path,
    *,
    model: Any,
    feature_extractor: Any,
    tokenizer: Any,
    labels: Labels,
    provenance: Mapping[str, Any] | None = None,
    recipe: Mapping[str, Any] | None = None,
    trained_tokens: Set[int] = frozenset(),
    trained_codes: Set[str] = frozenset(),
    state_dict: Mapping[str, Any] | None = None,
    place: str | Path | None = None,
    retraces: Mapping[str, TaggerWeights] | None = None,
    trim_margin_s: float | None = None,
) -> Path:
    """Write a checkpoint folder atomically and return its path.

    If ``model`` has a PEFT adapter, only the adapter is written, and ``load`` merges it into its base. ``state_dict``
    holds the gathered weights of a model that is sharded over ranks. ``place`` is the folder that ``out`` will be moved
    to, where it is another: an adapter records its base by a path relative to it. ``retraces`` are the weights of a
    tagger for each language, ``trim_margin_s`` is the margin of a model that was trained with ``data.trim``.

    A checkpoint at ``out`` is replaced in one step; a folder that holds anything else is not touched.
    The generation settings are fitted to ``labels``, to the token ids that were ``trained_tokens`` and to the speaker
    codes that were ``trained_codes`` (see :func:`fit_generation_config`).

    Raises:
        CheckpointError: ``out`` holds something that is not a checkpoint, or a tensor to be written is empty.
    """
    ours: dict[str, Any] = {
        "labels": labels.as_dict(),
        "recipe": dict(recipe or {}),
        "provenance": dict(provenance or {}),
    }
    if trim_margin_s is not None:
        ours["trim"] = {"margin_s": trim_margin_s}
    with atomic_folder(Path(out)) as partial:
        with quiet_transformers():
            whisper = model.get_base_model() if hasattr(model, "get_base_model") else model
            settings = fit_generation_config(
                whisper, tokenizer, labels, trained_tokens=trained_tokens, trained_codes=trained_codes
            )
            model.save_pretrained(partial, **({"state_dict": state_dict} if state_dict is not None else {}))
            (partial / "generation_config.json").unlink(missing_ok=True)
            settings.save_pretrained(partial)
            feature_extractor.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
        if hasattr(model, "peft_config"):
            ours["base"] = record_base(partial, Path(place or out))
        write_retraces(retraces or {}, partial)
        (partial / METADATA_FILE).write_text(json.dumps(ours, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        verify_tensors(partial)
        verify_adapter(partial, model)
    return Path(out)


def verify_tensors(folder: Path) -> None:
    """Check that no tensor in a folder's safetensors is empty, and that every value is a finite number.

    A model saved while sharded, or an adapter under FSDP2, is written as empty tensors without an error.

    Raises:
        CheckpointError: No safetensors, an empty tensor, or a value that is infinite or not a number.
    """
    from safetensors import safe_open

    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise CheckpointError(f"{folder.name}: no weights were written; gather the model before saving it")
    for file in files:
        with safe_open(str(file), framework="pt") as tensors:
            names = list(tensors.keys())
            empty = [name for name in names if 0 in tensors.get_slice(name).get_shape()]
            broken = [name for name in names if not bool(tensors.get_tensor(name).isfinite().all())]
        if empty or not names:
            first = empty[0] if empty else "all of them"
            raise CheckpointError(f"{file.name}: tensors are empty ({first}); gather the model before saving it")
        if broken:
            raise CheckpointError(f"{file.name}: values are infinite or not numbers ({broken[0]}); they are not saved")


def verify_adapter(folder: Path, model: Any) -> None:
    """Check that the folder's file contains every tensor of the adapter of ``model``, if it has one.

    Raises:
        CheckpointError: Some are missing.
    """
    if not hasattr(model, "peft_config"):
        return
    from peft import get_peft_model_state_dict
    from safetensors import safe_open

    with safe_open(str(folder / "adapter_model.safetensors"), framework="pt") as tensors:
        names = set(tensors.keys())
    missing = sorted(get_peft_model_state_dict(model, save_embedding_layers=False).keys() - names)
    if missing:
        raise CheckpointError(f"the adapter lacks {len(missing)} tensors, first {missing[0]}; gather it before saving")
