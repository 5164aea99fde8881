"""The recipe's adapter: a new one, or one that follows another, as a speaker's stage after a group's."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from lsa_whisper import checkpoint
from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.folder import digest
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json
from lsa_whisper.checkpoint.verification import is_local, read_metadata
from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning.distributed.ranks import rank
from lsa_whisper.finetuning.recipe import AdapterSettings, Recipe


def add_adapter(model: Any, adapter: AdapterSettings, tokens: Sequence[int] = ()) -> Any:
    """Return ``model`` frozen, with LoRA on the target layers and trainable embeddings of ``tokens``.

    No ``task_type`` is set: PEFT's sequence-to-sequence wrapper passes ``input_ids``, which Whisper does not accept.

    Raises:
        RecipeError: As :func:`check_adapter`.
    """
    from peft import LoraConfig, get_peft_model

    check_adapter(model, adapter)
    settings = LoraConfig(
        r=adapter.rank,
        lora_alpha=adapter.alpha,
        lora_dropout=adapter.dropout,
        target_modules=target_pattern(adapter),
        use_dora=adapter.dora,
        use_rslora=adapter.rank_stabilized,
        modules_to_save=list(adapter.modules_to_save) or None,
        bias="none",
        trainable_token_indices={"embed_tokens": list(tokens)} if tokens else None,
    )
    return get_peft_model(model, settings)


def target_pattern(adapter: AdapterSettings) -> str:
    """Return a regular expression that matches the full names of the adapted layers.

    >>> pattern = target_pattern(AdapterSettings(target_modules=("q_proj",), stacks="encoder"))
    >>> [bool(re.fullmatch(pattern, f"model.{name}.q_proj"))
    ...  for name in ("encoder.layers.0.self_attn", "decoder.layers.0.encoder_attn")]
    [True, False]
    """
    stacks = "encoder|decoder" if adapter.stacks == "both" else adapter.stacks
    return rf"(?:.*\.)?(?:{stacks})\.layers\..*\.(?:{'|'.join(map(re.escape, adapter.target_modules))})"


def check_adapter(model: Any, adapter: AdapterSettings) -> None:
    """Return if an adapter's names are in the model: PEFT ignores unknown names as long as it finds one.

    Raises:
        RecipeError: If a target or a module to save is not in it, or the rank is above what any layer can use.
    """
    ends = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    linear = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and ".layers." in name
    }
    if wrong := sorted(set(adapter.target_modules) - linear):
        raise RecipeError(
            f"adapter.target_modules: no layer is named {', '.join(wrong)}; choose from {', '.join(sorted(linear))}"
        )
    if wrong := [name for name in adapter.modules_to_save if not any(end.endswith(name) for end in ends)]:
        raise RecipeError(f"adapter.modules_to_save: no module is named {', '.join(wrong)}")
    if adapter.rank > (most := int(model.config.encoder_ffn_dim)):
        raise RecipeError(f"adapter.rank: {adapter.rank}, but the widest layer of the model has {most} units; set less")


def quantization_config(adapter: AdapterSettings, dtype: str) -> Any:
    """Return transformers' quantization config for the base, ``None`` if it is not to be quantized.

    ``dtype`` is that of the matrix products; 16 bits are several times faster than fp32.

    Raises:
        MissingExtraError: If bitsandbytes is not installed.
    """
    if adapter.quantize == "none":
        return None
    require_bitsandbytes(f"adapter.quantize: {adapter.quantize}")
    from transformers import BitsAndBytesConfig

    unquantized = ["proj_out"]  # tied to the token embeddings, which are not a linear layer
    if adapter.quantize == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=unquantized)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, dtype),
        llm_int8_skip_modules=unquantized,
    )


def require_bitsandbytes(feature: str) -> None:
    """Return if bitsandbytes can be used for ``feature``.

    Raises:
        MissingExtraError: If it is not installed.
        RecipeError: If it is installed but cannot be imported on this machine.
    """
    if importlib.util.find_spec("bitsandbytes") is None:
        raise MissingExtraError(feature, "bitsandbytes", "quantize")
    try:
        import bitsandbytes  # noqa: F401
    except Exception as error:  # it loads GPU libraries on import
        raise RecipeError(
            f"{feature}: bitsandbytes cannot be imported here ({error}); leave the setting out"
        ) from error


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


def differing_settings(folder: Path, adapter: AdapterSettings) -> Iterator[str]:
    """Yield each setting of the recipe's adapter that differs from that of the adapter in ``folder``."""
    settings = read_json(folder / ADAPTER_FILE)
    pairs = {
        "rank": (settings.get("r"), adapter.rank),
        "alpha": (settings.get("lora_alpha"), adapter.alpha),
        "dora": (bool(settings.get("use_dora")), adapter.dora),
        "rank_stabilized": (bool(settings.get("use_rslora")), adapter.rank_stabilized),
        "target_modules and stacks": (settings.get("target_modules"), target_pattern(adapter)),
        "modules_to_save": (list(settings.get("modules_to_save") or ()), list(adapter.modules_to_save)),
        "token_embeddings": (bool(settings.get("trainable_token_indices")), adapter.token_embeddings),
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
