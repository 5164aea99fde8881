"""The recipe's ``precision``: training arguments, type of the weights, and requirements on the machine.

Mixed precision (autocast) keeps the weights in fp32 and computes in 16 bits; only ``pure-bf16`` also keeps the weights
in 16 bits.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from typing import Any

import torch

from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning.recipe import Recipe, list_problems
from lsa_whisper.finetuning.recipe.validation import problems_of
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.system.device import has_native_bf16, sixteen_bit_precision

_FP8_CAPABILITY = (8, 9)


def precision_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's precision adds to ``Seq2SeqTrainingArguments``.

    Raises:
        RecipeError: If this machine does not support it.
        MissingExtraError: If fp8 is requested and torchao is not installed.
    """
    _check(recipe)
    return {"bf16": {"bf16": True}, "fp8": {"bf16": True}, "fp16": {"fp16": True}}.get(recipe.precision, {})


def with_precision(recipe: Recipe) -> Recipe:
    """Return the recipe with the precision that ``auto`` stands for on this machine.

    Raises:
        RecipeError: If the recipe's other settings exclude it.
    """
    if recipe.precision != "auto":
        return recipe
    resolved = dataclasses.replace(recipe, precision=sixteen_bit_precision() if has_gpu(recipe) else "fp32")
    if problems := problems_of(resolved):
        raise RecipeError(list_problems(f"precision: auto, here {resolved.precision}", problems))
    return resolved


def has_gpu(recipe: Recipe) -> bool:
    """Return whether the recipe trains on a GPU of this machine."""
    return torch.cuda.is_available() and not recipe.training.use_cpu


def weights_dtype(recipe: Recipe) -> str:
    """Return the dtype in which the weights are loaded and trained."""
    return "bfloat16" if recipe.precision == "pure-bf16" else "float32"


def compute_dtype(recipe: Recipe) -> str:
    """Return the dtype of matrix products with a quantized base: that of autocast, not that of other weights."""
    types = {"bf16": "bfloat16", "pure-bf16": "bfloat16", "fp16": "float16"}
    return types.get(recipe.precision, "float32")


def _check(recipe: Recipe) -> None:
    gpu = has_gpu(recipe)
    if recipe.precision == "fp16" and not gpu and not strategy_of(recipe).uses_deepspeed:
        raise RecipeError("precision: fp16 needs a GPU; use bf16 or fp32")
    in_bf16 = recipe.precision in ("bf16", "pure-bf16")
    if in_bf16 and gpu and not has_native_bf16():
        raise RecipeError(f"precision: {torch.cuda.get_device_name()} has no bf16 of its own; use auto or fp16")
    if recipe.precision == "fp8":
        if not gpu or torch.cuda.get_device_capability() < _FP8_CAPABILITY:
            raise RecipeError("precision: fp8 needs a GPU of compute capability 8.9 (Ada, Hopper) or newer; use bf16")
        if importlib.util.find_spec("torchao") is None:
            raise MissingExtraError("precision fp8", "torchao", "torchao")


def convert_to_fp8(model: Any, *, emulate: bool = False) -> Any:
    """Return ``model`` with linear layers that compute in fp8; weights, names and saved files do not change.

    Args:
        model: A Whisper model; its output layer is tied to the token embeddings and stays unconverted.
        emulate: Compute the same numbers without fp8 hardware, slowly.
    """
    from torchao.float8 import Float8LinearConfig, convert_to_float8_training

    def fits(layer: torch.nn.Module, name: str) -> bool:
        return not name.endswith("proj_out") and layer.in_features % 16 == 0 and layer.out_features % 16 == 0

    # Hardware multiplies blocks of 16; the numbers of frames (1,500) and of label tokens are not multiples of that.
    settings = Float8LinearConfig(emulate=emulate, pad_inner_dim=True)
    return convert_to_float8_training(model, module_filter_fn=fits, config=settings)
