"""A recipe as the arguments of transformers' trainer; no other module translates ``training`` and ``trainer_args``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import Seq2SeqTrainingArguments

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import is_launched
from lsa_whisper.finetuning.recipe import Recipe, TrainingSettings
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.dev_evaluation import evaluation_arguments
from lsa_whisper.finetuning.training.optimizer import optimizer_arguments
from lsa_whisper.finetuning.training.precision import precision_arguments
from lsa_whisper.system.library_internals import checkpointing_arguments, use_one_gpu

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
