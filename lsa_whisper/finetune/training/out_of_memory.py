"""When memory runs out in the midst of training: what to say, and the same recipe in smaller micro-batches."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable
from typing import TypeVar

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.memory.alternatives import smaller_micro_batches
from lsa_whisper.finetune.memory.estimate import micro_batch_of
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.finetune.training.resume import can_go_on
from lsa_whisper.machine import is_out_of_memory

Done = TypeVar("Done")


def within_memory(recipe: Recipe, train: Callable[[Recipe], Done], say: Callable[[str], None]) -> Done:
    """Return what ``train`` returns for ``recipe``, or for the same in smaller micro-batches if it asks for that.

    Raises:
        RecipeError: If memory ran out and no smaller micro-batch is left or wished for.
    """
    while True:
        try:
            return train(recipe)
        except Exception as error:  # CUDA, the host's allocator and Python each have their own
            if not is_out_of_memory(error):
                raise
            less = smaller(recipe) if recipe.auto_micro_batch else None
            if less is None:
                raise RecipeError(advice(recipe)) from error
        # Only here, with the error gone, do its frames let go of the model.
        recipe = less
        _free()
        sizes = (recipe.training["per_device_train_batch_size"], recipe.training["gradient_accumulation_steps"])
        say(f"out of memory; going on with micro-batches of {sizes[0]}, {sizes[1]} for each step")


def _free() -> None:
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def smaller(recipe: Recipe) -> Recipe | None:
    """Return the recipe with a smaller micro-batch and as many more of them for each step; ``None`` for one of 1.

    The loss is one sum over all windows of a step, so the same weights come out, but for rounding and dropout.
    """
    load = next(smaller_micro_batches(micro_batch_of(recipe, None, 1)), None)
    if load is None:
        return None
    before = micro_batch_of(recipe, None, 1).batch
    more = int(recipe.training.get("gradient_accumulation_steps", 1)) * before // load.batch
    sizes = {"per_device_train_batch_size": load.batch, "gradient_accumulation_steps": more}
    return dataclasses.replace(recipe, training=recipe.training | sizes)


def advice(recipe: Recipe) -> str:
    """Return the sentence about what to change, the cheapest change first."""
    load = micro_batch_of(recipe, None, 1)
    changes, anew = [], []
    if (less := smaller(recipe)) is not None:
        training = less.training
        changes.append(
            f"training.per_device_train_batch_size={training['per_device_train_batch_size']} with "
            f"training.gradient_accumulation_steps={training['gradient_accumulation_steps']} (the same steps; or let "
            "auto_micro_batch=true find it)"
        )
    if not load.checkpointing:
        changes.append("training.gradient_checkpointing=true")
    if recipe.adapter is None:
        anew.append("an adapter, or a strategy that moves more off the GPU (lsa-whisper estimate-memory lists them)")
    if not changes and not anew:
        anew.append("a smaller model, or an adapter of lower rank")
    goes_on = "; called again, the run goes on from its last saved step" if can_go_on(recipe) else ""
    kept = f"set {'; or '.join(changes)}{goes_on}" if changes else f"end what else uses the memory{goes_on}"
    begun = f"; or begin anew with {anew[0]}" if anew else ""
    return f"out of memory with batch {load.batch}: {kept}{begun}"
