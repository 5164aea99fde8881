"""A run within the limits of this machine: checked before training, and smaller micro-batches if memory runs out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.memory import Resources, memory_use, require_fit, smaller_micro_batches
from lsa_whisper.finetuning.memory.estimate import micro_batch_of
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.system.machine import GIB, is_out_of_memory


def preflight(recipe: Recipe, report: Callable[[str], None], resources: Resources | None = None) -> None:
    """Return if this machine can train ``recipe``; report what it will need.

    ``resources`` are those of this machine by default.

    Raises:
        RecipeError: With every problem and its remedy, or if memory or disk space do not suffice.
    """
    plan = require_fit(recipe, resources or Resources.of_this_machine(recipe))
    swap_gib = memory_use.swap_bytes(plan.counts, plan.configuration) / GIB if plan else None
    rows = list(strategy_of(recipe).machine_findings(recipe, swap_gib))
    problems = [f"{row.name}: {row.fact} ({row.remedy})" for row in rows if row.state == "problem"]
    if problems:
        raise RecipeError(f"{'; '.join(problems)}; --force trains anyway")
    for row in rows:
        if row.state == "warn":
            report(f"{row.name}: {row.fact} ({row.remedy})")
    if plan is not None:
        where = f"{plan.gpu_gib:.1f} GiB on each GPU, " if plan.job.hardware.gpus else ""
        report(f"{plan.name}, batch {plan.micro_batch.batch}: about {where}{plan.host_gib:.1f} GiB of host memory")


Result = TypeVar("Result")


def train_within_memory(recipe: Recipe, train: Callable[[Recipe], Result], report: Callable[[str], None]) -> Result:
    """Return ``train(recipe)``; with ``auto_micro_batch``, retry with smaller micro-batches when out of memory.

    Raises:
        RecipeError: If memory ran out and the recipe does not allow smaller micro-batches, or there are none.
    """
    from accelerate.utils import release_memory

    while True:
        try:
            return train(recipe)
        except Exception as error:  # CUDA, the host's allocator and Python each raise their own
            if not is_out_of_memory(error):
                raise
            smaller = with_smaller_micro_batch(recipe) if recipe.auto_micro_batch else None
            if smaller is None:
                raise RecipeError(out_of_memory_advice(recipe)) from error
        # Outside the except block: the exception's frames no longer hold the model.
        recipe = smaller
        release_memory()
        batch, accumulation = _sizes(recipe)
        report(f"out of memory; resuming with micro-batches of {batch} and {accumulation} accumulation steps")


def _sizes(recipe: Recipe) -> tuple[int, int]:
    return recipe.training.per_device_train_batch_size, recipe.training.gradient_accumulation_steps


def with_smaller_micro_batch(recipe: Recipe) -> Recipe | None:
    """Return the recipe with a smaller micro-batch and more gradient accumulation; ``None`` if the micro-batch is 1.

    The loss is a sum over all windows of a step, so the trained weights are the same up to rounding and dropout.
    """
    current = micro_batch_of(recipe, None, 1)
    smaller = next(smaller_micro_batches(current), None)
    if smaller is None:
        return None
    accumulation = recipe.training.effective_batch // smaller.batch
    training = dataclasses.replace(
        recipe.training, per_device_train_batch_size=smaller.batch, gradient_accumulation_steps=accumulation
    )
    return dataclasses.replace(recipe, training=training)


def out_of_memory_advice(recipe: Recipe) -> str:
    """Return what to change when memory runs out, the least costly change first."""
    current = micro_batch_of(recipe, None, 1)
    changes, new_run = [], []
    if (smaller := with_smaller_micro_batch(recipe)) is not None:
        batch, accumulation = _sizes(smaller)
        changes.append(
            f"training.per_device_train_batch_size={batch} with training.gradient_accumulation_steps={accumulation} "
            "(same effective batch size; auto_micro_batch=true finds it automatically)"
        )
    if not current.checkpointing:
        changes.append("training.gradient_checkpointing=true")
    if recipe.adapter is None:
        new_run.append("an adapter, or a strategy that offloads more (lsa-whisper estimate-memory lists them)")
    if not changes and not new_run:
        new_run.append("a smaller model, or an adapter of lower rank")
    resume = "; the same command then resumes from the last checkpoint" if recipe.can_resume else ""
    first = f"set {'; or '.join(changes)}{resume}" if changes else f"stop other programs that use the memory{resume}"
    last = f"; or start over with {new_run[0]}" if new_run else ""
    return f"out of memory with batch {current.batch}: {first}{last}"
