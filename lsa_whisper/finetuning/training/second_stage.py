"""Training from an adapter, such as a speaker's stage after a group's: stack a new adapter, or continue it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from lsa_whisper import checkpoint
from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.folder import digest
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json
from lsa_whisper.checkpoint.verification import is_local, read_metadata
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import rank
from lsa_whisper.finetuning.recipe import AdapterSettings, Recipe
from lsa_whisper.finetuning.training.adapter import target_pattern

_MERGED, _DIGEST = "merged", "adapter_digest"


def first_stage(recipe: Recipe) -> Path | None:
    """Return the folder of the adapter that the recipe's adapter follows, ``None`` if its base is a full model."""
    folder = Path(recipe.model.base or "")
    return folder if recipe.adapter is not None and (folder / ADAPTER_FILE).is_file() else None


def base_to_load(recipe: Recipe) -> str:
    """Return the full model that a recipe's adapter is trained on; with ``stack``, the first adapter merged.

    Raises:
        RecipeError: If the adapter is to be continued with other settings than it has.
        CheckpointError: If it cannot be merged, or the merged model cannot be written.
    """
    folder = first_stage(recipe)
    if folder is None or recipe.adapter is None:
        return str(recipe.model.base)
    if recipe.adapter.second_stage == "stack":
        return str(_merged(folder))
    check_second_stage(recipe)
    return base_of(folder)


def check_second_stage(recipe: Recipe) -> None:
    """Return if the adapter to be continued is there and has the recipe's settings.

    Raises:
        RecipeError: With what is missing, or with every setting that differs.
    """
    if recipe.adapter is None or recipe.adapter.second_stage != "continue":
        return
    folder = first_stage(recipe)
    if folder is None and is_local(str(recipe.model.base)):
        raise RecipeError(
            f"adapter.second_stage: continue needs the folder of an adapter as model.base, which {recipe.model.base} "
            "is not; leave it out to train a new adapter"
        )
    if folder is not None and (problems := list(differing_settings(folder, recipe.adapter))):
        raise RecipeError(f"adapter.second_stage: {folder} has {'; '.join(problems)}; set the same, or stack")


def continued_adapter(model: Any, folder: Path) -> Any:
    """Return ``model`` with the adapter in ``folder``, to be trained further."""
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(folder), is_trainable=True)


def differing_settings(folder: Path, adapter: AdapterSettings) -> Iterator[str]:
    """Yield each setting of the recipe's adapter that differs from that of the adapter in ``folder``."""
    saved = read_json(folder / ADAPTER_FILE)
    pairs = {
        "rank": (saved.get("r"), adapter.rank),
        "alpha": (saved.get("lora_alpha"), adapter.alpha),
        "dora": (bool(saved.get("use_dora")), adapter.dora),
        "rank_stabilized": (bool(saved.get("use_rslora")), adapter.rank_stabilized),
        "target_modules and stacks": (saved.get("target_modules"), target_pattern(adapter)),
        "modules_to_save": (list(saved.get("modules_to_save") or ()), list(adapter.modules_to_save)),
        "token_embeddings": (bool(saved.get("trainable_token_indices")), adapter.token_embeddings),
    }
    yield from (f"{name} {before!r}, not {now!r}" for name, (before, now) in pairs.items() if before != now)


def _merged(folder: Path) -> Path:
    """Return the folder of the adapter merged into its base, written again if the adapter has changed since."""
    merged = folder / _MERGED
    if rank() == 0 and read_metadata(merged).get("provenance", {}).get(_DIGEST) != digest(folder):
        loaded = checkpoint.load(folder)
        record = {**loaded.provenance, _DIGEST: digest(folder)}
        checkpoint.export(dataclasses.replace(loaded, provenance=record), merged)
    if torch.distributed.is_initialized():
        torch.distributed.barrier()
    return merged
