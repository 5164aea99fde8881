"""What is nearest to a recipe that does not fit, as overrides that the recipe accepts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune import recipe as recipes
from lsa_whisper.finetune.memory.activations import MicroBatch
from lsa_whisper.finetune.memory.configuration import DEEPSPEED, TrainingConfiguration, configuration_of
from lsa_whisper.finetune.memory.estimate import configurations_for
from lsa_whisper.finetune.memory.plan import Plan
from lsa_whisper.finetune.recipe import FsdpSettings, Recipe

_UNSHARDED_ONLY = ("pure-bf16", "fp8")
"""Precisions for which DeepSpeed and FSDP stand no chance: bf16 is the nearest that they have."""


def remedy(plan: Plan, recipe: Recipe, estimate: Callable[[Recipe], Plan]) -> tuple[Plan, list[str]] | None:
    """Return the nearest plan that fits and the overrides by which ``recipe`` becomes it, ``None`` if there is none.

    Nothing is returned that the recipe with its overrides would not be: it is checked and estimated like any other.

    Args:
        plan: What the recipe needs as it stands.
        recipe: What does not fit.
        estimate: Plans a recipe for the same machine.
    """
    for other, precision in alternatives(plan, recipe):
        if not other.fits:
            continue
        overrides = list(_differences(recipe, plan, other, precision))
        try:
            again = estimate(recipes.with_overrides(recipe, overrides))
        except RecipeError:
            continue
        if again.fits:
            return again, overrides
    return None


def alternatives(plan: Plan, recipe: Recipe) -> Iterator[tuple[Plan, str | None]]:
    """Yield other plans, the nearest first: layers computed again, smaller batches, other strategies, a LoRA.

    Beside each stands the precision that the recipe must change to, ``None`` where it keeps its own.
    """
    job, micro_batch = plan.job, plan.micro_batch
    again = dataclasses.replace(micro_batch, checkpointing=True)
    for same in (again, *smaller_micro_batches(again)):
        yield job.plan(plan.configuration, same), None
    kept: list[tuple[str, str | None]] = [(plan.configuration.precision, None)]
    kept += [("bf16", "bf16")] if recipe.precision in _UNSHARDED_ONLY else []
    for precision, change in kept:
        for configuration in _with_precision(precision, configurations_for(job.hardware, recipe)):
            if job.can(configuration):
                for same in (again, *smaller_micro_batches(again)):
                    yield job.plan(configuration, same), change


def _with_precision(precision: str, configurations: Iterable[TrainingConfiguration]) -> Iterator[TrainingConfiguration]:
    """Yield each configuration once in the given precision, but for those that are about precision."""
    yield from dict.fromkeys(
        dataclasses.replace(configuration, precision=precision)
        for configuration in configurations
        if configuration.precision in ("bf16", precision)
    )


def smaller_micro_batches(micro_batch: MicroBatch) -> Iterator[MicroBatch]:
    """Yield loads of fewer windows that make up the same batch when gradients are accumulated: 12, 6, 3, 1.

    >>> [smaller.batch for smaller in smaller_micro_batches(MicroBatch(batch=12))]
    [6, 3, 1]
    """
    while micro_batch.batch > 1:
        divisor = next(number for number in range(2, micro_batch.batch + 1) if micro_batch.batch % number == 0)
        micro_batch = dataclasses.replace(micro_batch, batch=micro_batch.batch // divisor, accumulates=True)
        yield micro_batch


def _differences(recipe: Recipe, plan: Plan, other: Plan, precision: str | None) -> Iterator[str]:
    """Yield ``section.key=value`` for all in which ``other`` is not what ``recipe`` says; what it must unsay, too."""
    configuration = other.configuration
    if configuration.strategy != plan.configuration.strategy:
        yield f"strategy={configuration.strategy}"
        yield from _left_behind(recipe, configuration)
    for name in ("optimizer", "parameters", "nvme_path"):
        place = getattr(configuration.recipe_offload, name)
        if place != getattr(recipe.offload, name) and place is not None:
            yield f"offload.{name}={place}"
    if precision:
        yield f"precision={precision}"
    if configuration.optimizer != configuration_of(recipe).optimizer:
        # What training.optim says cannot be left out by an override; AdamW has a word there.
        said_there = "optim" in recipe.training and configuration.optimizer == "adamw"
        yield "training.optim=adamw_torch" if said_there else f"optimizer={configuration.optimizer}"
    if configuration.adapter and configuration.adapter != recipe.adapter:
        yield from (f"adapter.{name}={getattr(configuration.adapter, name)}" for name in ("rank", "alpha"))
    if other.micro_batch.batch != plan.micro_batch.batch:
        whole = plan.micro_batch.batch * recipe.training.get("gradient_accumulation_steps", 1)
        yield f"training.per_device_train_batch_size={other.micro_batch.batch}"
        yield f"training.gradient_accumulation_steps={-(-whole // other.micro_batch.batch)}"
    if other.micro_batch.checkpointing and not plan.micro_batch.checkpointing:
        yield "training.gradient_checkpointing=true"


def _left_behind(recipe: Recipe, configuration: TrainingConfiguration) -> Iterator[str]:
    """Yield what puts back the settings that only the recipe's own strategy knows."""
    if configuration.strategy != "fsdp2":
        plain = FsdpSettings()
        differing = (name for name in vars(plain) if getattr(recipe.fsdp, name) != getattr(plain, name))
        yield from (f"fsdp.{name}={str(getattr(plain, name)).lower()}" for name in differing)
    if recipe.deepspeed and configuration.strategy not in DEEPSPEED:
        yield "deepspeed={}"
    if recipe.auto_micro_batch and configuration.strategy != "single":
        yield "auto_micro_batch=false"
