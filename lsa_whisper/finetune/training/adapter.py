"""Small matrices beside frozen weights: where they stand, and on what kind of base (PEFT does the rest)."""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetune.recipe.sections import AdapterSettings

LOWEST_RANK = 10


def with_adapter(model: Any, adapter: AdapterSettings, tokens: Sequence[int] = ()) -> Any:
    """Return ``model`` frozen, with LoRA beside the adapter's target layers and the embeddings of ``tokens`` free.

    No ``task_type`` is set: PEFT's wrapper for sequence-to-sequence models passes ``input_ids``, which Whisper lacks.

    Raises:
        RecipeError: If a target or a module to save is not in the model.
    """
    from peft import LoraConfig, get_peft_model

    if adapter.rank < LOWEST_RANK:
        warnings.warn(
            f"LoRA rank {adapter.rank}: below {LOWEST_RANK} Whisper's adaptation to disfluent labels has been seen "
            "not to converge; watch the loss, or raise adapter.rank",
            stacklevel=2,
        )
    _check_names(model, adapter)
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
    """Return the regular expression that the whole names of the adapted layers match.

    >>> pattern = target_pattern(AdapterSettings(target_modules=("q_proj",), stacks="encoder"))
    >>> [bool(re.fullmatch(pattern, f"model.{name}.q_proj"))
    ...  for name in ("encoder.layers.0.self_attn", "decoder.layers.0.encoder_attn")]
    [True, False]
    """
    stacks = "encoder|decoder" if adapter.stacks == "both" else adapter.stacks
    return rf"(?:.*\.)?(?:{stacks})\.layers\..*\.(?:{'|'.join(map(re.escape, adapter.target_modules))})"


def _check_names(model: Any, adapter: AdapterSettings) -> None:
    """PEFT adapts what it finds and says nothing of the names it does not find, as long as there is one."""
    ends = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    linear = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and ".layers." in name
    }
    if wrong := sorted(set(adapter.target_modules) - linear):
        raise RecipeError(
            f"adapter.target_modules: no layer is called {', '.join(wrong)}; there are {', '.join(sorted(linear))}"
        )
    if wrong := [name for name in adapter.modules_to_save if not any(end.endswith(name) for end in ends)]:
        raise RecipeError(f"adapter.modules_to_save: no module is called {', '.join(wrong)}")


def quantization(adapter: AdapterSettings, weights_type: str) -> Any:
    """Return transformers' settings for the base in fewer bits, ``None`` when it is to stay whole.

    Args:
        adapter: Says in how many bits.
        weights_type: What is computed in, and what stays as it is (norms, embeddings, output layer) is kept in.

    Raises:
        MissingExtraError: If bitsandbytes is not installed.
    """
    if adapter.quantize == "none":
        return None
    require_bitsandbytes(f"adapter.quantize: {adapter.quantize}")
    from transformers import BitsAndBytesConfig

    kept = ["proj_out"]  # tied to the token table, which is no linear layer
    if adapter.quantize == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=kept)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, weights_type),
        llm_int8_skip_modules=kept,
    )


def require_bitsandbytes(feature: str) -> None:
    """Return when bitsandbytes can be used for ``feature``.

    Raises:
        MissingExtraError: If it is not installed.
        RecipeError: If it is, but does not start on this machine.
    """
    if importlib.util.find_spec("bitsandbytes") is None:
        raise MissingExtraError(feature, "bitsandbytes", "quantize")
    try:
        import bitsandbytes  # noqa: F401
    except Exception as error:  # it looks for a GPU's libraries as it is imported
        raise RecipeError(f"{feature}: bitsandbytes does not start here ({error}); leave the setting out") from error
