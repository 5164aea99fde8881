"""The recipe's word for precision, and what it asks of the machine.

Training under autocast keeps the weights in fp32 and computes in 16 bits; only ``pure-bf16`` keeps fewer bits of the
weights themselves, and says so.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetune.recipe import Recipe

_FP8_CAPABILITY = (8, 9)
_REMARKS = {
    "pure-bf16": "precision pure-bf16: the weights themselves are kept in bf16; updates smaller than about 1/256 of a "
    "weight are rounded away",
}


def precision_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's precision adds to ``Seq2SeqTrainingArguments``.

    Raises:
        RecipeError: If this machine cannot compute so.
        MissingExtraError: If fp8 is asked for without torchao.
    """
    _check(recipe)
    return {"bf16": {"bf16": True}, "fp8": {"bf16": True}, "fp16": {"fp16": True}}.get(recipe.precision, {})


def weights_type(recipe: Recipe) -> str:
    """Return the type the weights are loaded and trained in."""
    return "bfloat16" if recipe.precision == "pure-bf16" else "float32"


def remark(recipe: Recipe) -> str | None:
    """Return what whoever started the run has to know of its precision."""
    return _REMARKS.get(recipe.precision)


def _check(recipe: Recipe) -> None:
    gpu = torch.cuda.is_available() and not recipe.training.get("use_cpu")
    if (recipe.precision == "fp16" or recipe.training.get("fp16")) and not gpu:
        raise RecipeError("precision: fp16 needs a GPU; use bf16 or fp32")
    in_bf16 = recipe.precision in ("bf16", "pure-bf16") or recipe.training.get("bf16")
    if in_bf16 and gpu and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise RecipeError(f"precision: {torch.cuda.get_device_name()} has no bf16; use fp16 or fp32")
    if recipe.precision == "fp8":
        if not gpu or torch.cuda.get_device_capability() < _FP8_CAPABILITY:
            raise RecipeError("precision: fp8 needs a GPU of compute capability 8.9 (Ada, Hopper) or newer; use bf16")
        if importlib.util.find_spec("torchao") is None:
            raise MissingExtraError("precision fp8", "torchao", "torchao")


def multiply_in_8_bits(model: Any, *, emulate: bool = False) -> Any:
    """Return ``model`` with its linear layers computing in fp8; weights, names and the saved file stay as they are.

    Args:
        model: A Whisper model; its output layer, tied to the token table, is left alone.
        emulate: Compute the same numbers without hardware for it, slowly.
    """
    from torchao.float8 import Float8LinearConfig, convert_to_float8_training

    def fits(layer: torch.nn.Module, name: str) -> bool:
        return not name.endswith("proj_out") and layer.in_features % 16 == 0 and layer.out_features % 16 == 0

    return convert_to_float8_training(model, module_filter_fn=fits, config=Float8LinearConfig(emulate=emulate))
