"""A recipe's ``training`` and ``trainer_args`` as arguments of transformers' trainer, and its ``optimizer``.

Optimizers are those that need less GPU memory than AdamW, with their requirements. Weights that are kept in bf16 are
trained by an optimizer that steps inside the backward pass, rounding stochastically. As soon as the gradient of a
weight is complete, the weight is changed in fp32, rounded, and the gradient freed, so that there is never more than one
gradient and one weight in fp32 (Lv et al. 2023, LOMO). Rounding to the nearest would lose every update below half of
the distance to the next bf16 number, about 1/512 of the weight: most of fine-tuning. Stochastic rounding keeps updates
in expectation (Gupta et al. 2015).
"""

from __future__ import annotations

import copy
import functools
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import Seq2SeqTrainingArguments

from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning.distributed.ranks import is_launched
from lsa_whisper.finetuning.recipe import Recipe, TrainingSettings
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.adapter import require_bitsandbytes
from lsa_whisper.finetuning.training.dev_evaluation import evaluation_arguments
from lsa_whisper.finetuning.training.precision import has_gpu, precision_arguments
from lsa_whisper.system.library_internals import checkpointing_arguments, use_one_gpu
from lsa_whisper.system.process import return_large_tensors

_FIXED: dict[str, Any] = {
    "report_to": "none",
    "save_only_model": False,
    "logging_nan_inf_filter": False,  # it would log a loss of 0 for one that is not a number
    "save_strategy": "no",  # CheckpointSchedule decides
    "disable_tqdm": True,
    "remove_unused_columns": False,
    "label_names": ["labels"],
    "gradient_checkpointing_kwargs": {"use_reentrant": False},
    "ddp_find_unused_parameters": False,
}
_SAME_NAME = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "num_train_epochs",
    "learning_rate",
    "lr_scheduler_type",
    "warmup_steps",
    "weight_decay",
    "adam_beta1",
    "adam_beta2",
    "adam_epsilon",
    "gradient_checkpointing",
    "use_cpu",
    "logging_steps",
)
"""Settings of ``training`` that the trainer takes as they are."""


def training_arguments(recipe: Recipe, folder: Path) -> Seq2SeqTrainingArguments:
    """Return transformers' arguments for ``recipe``.

    Raises:
        RecipeError: If transformers rejects a value of ``trainer_args``, or this machine does not support a setting.
    """
    settings = trainer_settings(recipe, folder) | precision_arguments(recipe) | optimizer_arguments(recipe)
    settings |= strategy_of(recipe).trainer_arguments(recipe)
    try:
        arguments = Seq2SeqTrainingArguments(**settings)
    except (TypeError, ValueError) as error:
        raise RecipeError(f"trainer_args: {error}") from None
    use_one_gpu(arguments)
    return arguments


def trainer_settings(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Return the arguments that depend neither on the strategy nor on this machine; see :func:`training_arguments`."""
    settings = _FIXED | {"seed": recipe.seed, "data_seed": recipe.seed, "output_dir": str(folder)}
    settings |= {"dataloader_num_workers": recipe.data.workers}
    # Persistent workers keep the cache from epoch to epoch.
    settings |= {"dataloader_persistent_workers": recipe.data.cache and recipe.data.workers > 0}
    settings |= {"train_sampling_strategy": "group_by_length"} if recipe.data.trim else {}
    settings |= _training(recipe.training) | evaluation_arguments(recipe) | recipe.trainer_args
    if not is_launched():
        settings.pop("ddp_backend", None)  # of a process group, which a single process does not have
    return checkpointing_arguments(settings)


def _training(training: TrainingSettings) -> dict[str, Any]:
    settings = {name: getattr(training, name) for name in _SAME_NAME}
    settings |= {"lr_scheduler_kwargs": training.lr_scheduler_kwargs} if training.lr_scheduler_kwargs else {}
    settings |= {"max_steps": training.max_steps} if training.max_steps is not None else {}
    return settings | ({"max_grad_norm": training.max_grad_norm} if training.max_grad_norm is not None else {})


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
        kind, settings = _own(arguments)
        return StepInBackward, {"make": kind, **settings}
    if recipe.optimizer != "adamw-cpu":
        return None
    from torchao.optim import CPUOffloadOptimizer

    return CPUOffloadOptimizer, _own(arguments)[1] | {"minimal_size": 0}


def _own(arguments: Any) -> tuple[Any, dict[str, Any]]:
    """Return transformers' optimizer for the recipe, and the settings that make one of it for one weight."""
    from transformers import Trainer

    kind, settings = Trainer.get_optimizer_cls_and_kwargs(arguments)
    settings = {"lr": arguments.learning_rate, **settings}
    return kind, {name: value for name, value in settings.items() if name != "fused"}


_DROPPED_BITS = 16
"""Bits of an fp32 number that bf16 does not have."""
_AT_ONCE = 1 << 22
"""Values that are rounded at once, with as many random numbers in memory."""


def round_stochastically(values: torch.Tensor) -> torch.Tensor:
    """Return fp32 ``values`` in bf16, each rounded up or down so that its expectation is the value.

    A random number below the last bit that bf16 keeps is added, and the bits after it are dropped.

    >>> round_stochastically(torch.full((20_000,), 1 + 2**-10)).float().mean().sub(1).mul(2**10).round().item()
    1.0
    """
    rounded = torch.empty_like(values, dtype=torch.bfloat16)
    for part, out in zip(values.flatten().split(_AT_ONCE), rounded.view(-1).split(_AT_ONCE), strict=True):
        bits = torch.randint(1 << _DROPPED_BITS, part.shape, dtype=torch.int32, device=values.device)
        bits.add_(part.view(torch.int32)).bitwise_and_(-(1 << _DROPPED_BITS))  # infinity and NaN stay what they are
        out.copy_(bits.view(torch.float32))
    return rounded


class StepInBackward(torch.optim.Optimizer):
    """An optimizer whose steps are taken during the backward pass, one weight at a time, from fp32 copies.

    Its own ``step`` has nothing left to do. Gradients can be neither accumulated nor clipped together.
    """

    def __init__(self, params: Any, make: Callable[..., torch.optim.Optimizer], lr: float, **defaults: Any):
        """Step each of ``params`` by an optimizer of its own, which ``make`` creates from ``defaults``."""
        super().__init__(params, {"lr": lr, **defaults})
        self._squares: list[torch.Tensor] = []
        self._inner: dict[torch.Tensor, torch.optim.Optimizer] = {}
        for number, group in enumerate(self.param_groups):
            settings = {name: value for name, value in group.items() if name != "params"}
            for weight in group["params"]:
                twin = torch.nn.Parameter(torch.empty(0, device=weight.device))
                self._inner[weight] = make([twin], **settings)
                weight.register_post_accumulate_grad_hook(functools.partial(self._step, number))

    def _step(self, number: int, weight: torch.Tensor) -> None:
        """Change a weight of group ``number`` by its gradient, and free the gradient."""
        assert weight.grad is not None
        group = self._inner[weight].param_groups[0]
        group |= {name: value for name, value in self.param_groups[number].items() if name != "params"}
        (twin,) = group["params"]
        twin.data, twin.grad = weight.detach().float(), weight.grad.float()
        weight.grad = None
        self._squares.append(twin.grad.square().sum())
        self._inner[weight].step()
        with torch.no_grad():
            weight.copy_(round_stochastically(twin.data) if weight.dtype == torch.bfloat16 else twin.data)
        twin.data, twin.grad = twin.data.new_empty(0), None
        self.state[weight] = self._inner[weight].state[twin]

    def gradient_norm(self) -> torch.Tensor | None:
        """Return the norm of the gradients since the last call, ``None`` without any."""
        squares, self._squares = self._squares, []
        return torch.stack(squares).sum().sqrt() if squares else None

    def step(self, closure: Any = None) -> None:
        """Take no step: all have been taken."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state without rounding it to the type of the weights, as torch would."""
        whole = copy.deepcopy(state_dict["state"])
        super().load_state_dict(state_dict)
        weights = [weight for group in self.param_groups for weight in group["params"]]
        for index, state in whole.items():
            weight = weights[index]
            shaped = {name: value for name, value in state.items() if isinstance(value, torch.Tensor) and value.dim()}
            values = state | {name: value.to(weight.device) for name, value in shaped.items()}
            self.state[weight] = values
            (twin,) = self._inner[weight].param_groups[0]["params"]
            self._inner[weight].state[twin] = values
