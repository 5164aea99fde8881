"""The recipe's ``optimizer``: those that need less GPU memory than AdamW, and their requirements."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.training.adapter import require_bitsandbytes
from lsa_whisper.finetuning.training.precision import has_gpu
from lsa_whisper.finetuning.training.step_in_backward import StepInBackward
from lsa_whisper.system.machine import return_large_tensors


def optimizer_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's optimizer adds to ``Seq2SeqTrainingArguments``.

    Raises:
        MissingExtraError: If its package is not installed.
        RecipeError: If it cannot run on this machine.
    """
    unclipped = {"max_grad_norm": 0.0} if recipe.steps_in_backward else {}
    if recipe.optimizer == "adafactor":
        return {"optim": "adafactor", **unclipped}
    if recipe.optimizer == "adamw-8bit":
        require_bitsandbytes("optimizer adamw-8bit")
        return {"optim": "adamw_bnb_8bit"}
    if recipe.optimizer == "adamw-cpu":
        if importlib.util.find_spec("torchao") is None:
            raise MissingExtraError("optimizer adamw-cpu", "torchao", "torchao")
        if not has_gpu(recipe):
            raise RecipeError("optimizer: adamw-cpu offloads AdamW from a GPU, but this machine has none; use adamw")
        return {"max_grad_norm": 0.0}  # gradients are moved to the CPU before they could be clipped
    return unclipped


def optimizer_class(recipe: Recipe, arguments: Any) -> tuple[type[torch.optim.Optimizer], dict[str, Any]] | None:
    """Return an optimizer class that transformers does not know by name, with its arguments; ``None`` for all others.

    ``minimal_size=0`` offloads every parameter: torchao would keep small ones on the GPU, in an optimizer whose
    learning rate no longer follows the schedule after a state has been loaded.
    """
    if recipe.steps_in_backward:
        return_large_tensors()
        return StepInBackward, _inner(recipe, arguments)
    if recipe.optimizer != "adamw-cpu":
        return None
    from torchao.optim import CPUOffloadOptimizer

    settings = {
        "lr": arguments.learning_rate,
        "betas": (arguments.adam_beta1, arguments.adam_beta2),
        "eps": arguments.adam_epsilon,
    }
    return CPUOffloadOptimizer, settings | {"minimal_size": 0}


def _inner(recipe: Recipe, arguments: Any) -> dict[str, Any]:
    """Return what makes an optimizer of one weight, with its settings: transformers' own for the recipe."""
    from transformers import Trainer

    kind, settings = Trainer.get_optimizer_cls_and_kwargs(arguments)
    settings = {"lr": arguments.learning_rate, **settings}
    return {"make": kind, **{name: value for name, value in settings.items() if name != "fused"}}
