"""The nearest plan that fits in place of one that does not, as overrides of its recipe."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.memory.activations import MicroBatch
from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration, adapter_keys, configuration_of
from lsa_whisper.finetuning.memory.estimate import configurations_for
from lsa_whisper.finetuning.memory.plan import Plan
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of

_UNSHARDED_ONLY = ("pure-bf16", "fp8")
"""Precisions that DeepSpeed and FSDP do not support; the nearest that they do is bf16."""


def nearest_fit(plan: Plan, recipe: Recipe, estimate: Callable[[Recipe], Plan]) -> tuple[Plan, list[str]] | None:
    """Return the nearest plan that fits, with the overrides that ``recipe`` needs for it; ``None`` if none fits.

    The recipe with these overrides has been validated and estimated.

    Args:
        plan: The plan of ``recipe`` as it stands.
        recipe: The recipe that does not fit.
        estimate: Returns the plan of a recipe on the same machine.
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
    """Yield other plans, the nearest first: gradient checkpointing, smaller batches, other strategies, a LoRA.

    Each comes with the precision that the recipe must change to, ``None`` where it keeps its own.
    """
    job, micro_batch = plan.job, plan.micro_batch
    again = dataclasses.replace(micro_batch, checkpointing=True)
    for same in (again, *smaller_micro_batches(again)):
        yield job.plan(plan.configuration, same), None
    needed = set(plan.configuration.packages)
    kept: list[tuple[str, str | None]] = [(plan.configuration.precision, None)]
    kept += [("bf16", "bf16")] if recipe.precision in _UNSHARDED_ONLY else []
    for precision, change in kept:
        every = configurations_for(job.hardware, recipe, processes=job.processes)
        for configuration in _with_precision(precision, every):
            if job.supports(configuration) and set(configuration.missing_packages) <= needed:
                for same in (again, *smaller_micro_batches(again)):
                    yield job.plan(configuration, same), change


def _with_precision(precision: str, configurations: Iterable[TrainingConfiguration]) -> Iterator[TrainingConfiguration]:
    """Yield each configuration once with the given precision; those that differ in precision only are left out."""
    yield from dict.fromkeys(
        dataclasses.replace(configuration, precision=precision)
        for configuration in configurations
        if configuration.precision in ("bf16", precision)
    )


def smaller_micro_batches(micro_batch: MicroBatch) -> Iterator[MicroBatch]:
    """Yield smaller micro-batches that divide the batch evenly, for gradient accumulation: 12, 6, 3, 1.

    >>> [smaller.batch for smaller in smaller_micro_batches(MicroBatch(batch=12))]
    [6, 3, 1]
    """
    while micro_batch.batch > 1:
        divisor = next(number for number in range(2, micro_batch.batch + 1) if micro_batch.batch % number == 0)
        micro_batch = dataclasses.replace(micro_batch, batch=micro_batch.batch // divisor, accumulates=True)
        yield micro_batch


def _differences(recipe: Recipe, plan: Plan, other: Plan, precision: str | None) -> Iterator[str]:
    """Yield an override ``section.key=value`` for each setting in which ``other`` differs from ``recipe``."""
    configuration = other.configuration
    yield from strategy_of(configuration).changed_from(strategy_of(plan.configuration), recipe)
    for name in ("optimizer", "parameters", "nvme_path"):
        place = getattr(configuration.recipe_offload, name)
        if place != getattr(recipe.offload, name) and place is not None:
            yield f"offload.{name}={place}"
    if precision:
        yield f"precision={precision}"
    if configuration.optimizer != configuration_of(recipe).optimizer:
        yield f"optimizer={configuration.optimizer}"
    if configuration.adapter and configuration.adapter != recipe.adapter:
        yield from (f"adapter.{key}={json.dumps(value)}" for key, value in adapter_keys(configuration.adapter).items())
    if other.micro_batch.batch != plan.micro_batch.batch:
        whole = plan.micro_batch.batch * recipe.training.gradient_accumulation_steps
        yield f"training.per_device_train_batch_size={other.micro_batch.batch}"
        yield f"training.gradient_accumulation_steps={-(-whole // other.micro_batch.batch)}"
    if other.micro_batch.checkpointing and not plan.micro_batch.checkpointing:
        yield "training.gradient_checkpointing=true"
