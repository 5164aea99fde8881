"""The recipe's ``precision``: training arguments, type of the weights, requirements, and steps that are not finite.

Mixed precision (autocast) keeps the weights in fp32 and computes in 16 bits; only ``pure-bf16`` also keeps the weights
in 16 bits. A step whose loss or gradient is not finite ends the run before it is saved, unless fp16's loss scale skips
it.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning.recipe import Recipe, list_problems
from lsa_whisper.finetuning.recipe.validation import problems_of
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.resume import last_complete_checkpoint
from lsa_whisper.system.deepspeed_internals import scale_deepspeed_loss
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


MAX_SKIPPED = 24
"""Steps in a row that fp16's loss scaling may skip. It halves the scale at each; the usual one of 65,536 is 1 after 16,
and then a gradient that still overflows does so for another reason."""


def _not_finite(model: Any) -> str | None:
    """Return the name of a weight that is not finite, ``None`` if all are."""
    weights = model.named_parameters() if model is not None else ()
    return next((name for name, weight in weights if not torch.isfinite(weight.detach()).all()), None)


class FiniteSteps(TrainerCallback):
    """Stops a run whose loss or gradient norm is infinite or not a number.

    Without it the run would continue with weights that are not numbers. The gradient norm is that of all ranks, so that
    all stop after the same step. With fp16 a step that overflows is skipped, and the next one has a smaller scale.

    Attributes:
        norm: The norm of the gradients, to be set if they are gone before they would be clipped.
        skipped: Steps in a row that were skipped.
    """

    def __init__(self, recipe: Recipe, folder: Path, report: Callable[[str], None]):
        """Watch the run of ``recipe``, whose checkpoints are in ``folder``; ``report`` receives overflows of fp16."""
        self._recipe, self._folder, self._report, self._untold = recipe, folder, report, 0
        self._losses: list[torch.Tensor] = []
        self.norm: Any = None
        self.skipped = 0

    def add_loss(self, loss: torch.Tensor) -> torch.Tensor:
        """Take note of the loss of a micro-batch and return it."""
        self._losses.append(loss.detach())
        return loss

    def recorded_norm(self, clip: Any) -> Any:
        """Return ``clip``, a function that clips gradients and returns their norm, so that the norm is noted."""

        def record(*args: Any, **options: Any) -> Any:
            self.norm = clip(*args, **options)
            return self.norm

        return record

    def on_pre_optimizer_step(
        self, args: Any, state: Any, control: Any, optimizer: Any = None, model: Any = None, **_: Any
    ) -> None:
        """Raise if the step that is about to be taken is not finite.

        Raises:
            RecipeError: With the step, the last good checkpoint, and what to change.
        """
        problem = self._problem(optimizer)
        self._losses, self.norm = [], None
        self.skipped = self.skipped + 1 if problem else 0
        self._untold += bool(problem)
        if problem and (self._recipe.precision != "fp16" or self.skipped > MAX_SKIPPED):
            if state.global_step == 0 and (name := _not_finite(model)):
                raise RecipeError(
                    f"model.base: {self._recipe.model.base}: values are infinite or not numbers ({name}); copy the "
                    f"model again, or choose another, and remove {self._folder}"
                )
            raise RecipeError(self._message(state.global_step + 1, problem))

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report the steps that overflowed since the last report."""
        if self._untold:
            self._report(f"fp16: {self._untold} steps overflowed and were skipped; each halves the loss scale")
            self._untold = 0

    def _problem(self, optimizer: Any) -> str | None:
        """Return what is not finite, ``None`` if all is.

        DeepSpeed has taken its step already, or discarded it, also in fp32 and then without a word; its norm is that of
        the last step that it took.
        """
        loss = float(torch.stack(self._losses).sum()) if self._losses else 0.0
        if not math.isfinite(loss):
            return f"the loss is {loss:g}"
        if getattr(optimizer, "step_was_overflow", False):
            return "the gradient is not finite"
        norm = 0.0 if self.norm is None else float(self.norm)
        return None if math.isfinite(norm) and norm >= 0 else "the gradient is not finite"

    def _message(self, step: int, problem: str) -> str:
        rate, folder = self._recipe.training.learning_rate, self._folder
        if self._recipe.precision == "fp16":
            problem += f", as in the {MAX_SKIPPED} steps before, at every loss scale"
            remedy = "use precision: bf16 or fp32, or lower training.learning_rate"
        else:
            remedy = "lower training.learning_rate, or lengthen training.warmup_steps"
        last = last_complete_checkpoint(folder, lambda _: None)
        state = f"; {last} holds the last good state" if last else ""
        return (
            f"step {step}: {problem}, so training has stopped; {remedy} (the rate is {rate:g}){state}; remove {folder} "
            "to start over"
        )


class LossScale(TrainerCallback):
    """Begins with the recipe's loss scale (Micikevicius et al. 2018, Mixed precision training).

    A step that overflows is skipped and halves the scale; 2,000 steps without one double it.
    """

    def __init__(self, recipe: Recipe, trainer: Any):
        """Scale the loss of ``trainer``, which runs ``recipe``."""
        self._recipe, self._trainer = recipe, trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Set the scale; a resumed run has its own."""
        initial = self._recipe.training.loss_scale
        if strategy_of(self._recipe).uses_deepspeed:
            scale_deepspeed_loss(self._trainer.model_wrapped, initial)
        elif state.global_step == 0:
            begin_at(self._trainer.accelerator.scaler, initial)


def begin_at(scaler: Any, scale: float) -> None:
    """Set the scale of torch's ``GradScaler`` before its first step."""
    scaler.load_state_dict(scaler.state_dict() | {"scale": scale})
