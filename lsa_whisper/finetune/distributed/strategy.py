"""How a run is spread over processes and memory, as settings for one trainer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.distributed import fsdp, zero
from lsa_whisper.finetune.distributed.ranks import is_launched
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.library_internals import destroy_deepspeed, reset_training_state

_ZERO = ("zero2", "zero3")


def strategy_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's strategy adds to ``Seq2SeqTrainingArguments``.

    Raises:
        MissingExtraError: If the strategy needs DeepSpeed and it is not installed.
        RecipeError: If it cannot run on these processes or this machine.
    """
    if recipe.strategy in _ZERO:
        zero.require_deepspeed(recipe)
        return {"deepspeed": zero.deepspeed_config(recipe.strategy, recipe.offload, recipe.deepspeed)}
    if _is_fsdp(recipe):
        return fsdp.fsdp_arguments(recipe)
    return {}


def _is_fsdp(recipe: Recipe) -> bool:
    return recipe.strategy == "fsdp2" and recipe.fsdp.sharding_strategy != "no_shard"


def init_distributed(recipe: Recipe) -> None:
    """Make this process one of the run's, where the strategy needs that before the model is loaded."""
    if recipe.strategy in _ZERO:
        zero.require_deepspeed(recipe)
        zero.init_process_group()
    elif _is_fsdp(recipe) and not is_launched():
        raise RecipeError("strategy: fsdp2 shares the work among processes; give --processes, or use single")


def gather_weights(trainer: Any) -> dict[str, Any] | None:
    """Return the whole weights of a sharded model (every process must ask), ``None`` when they are whole already.

    Of a model with an adapter only what is trained, which is all that is saved of it.
    """
    if trainer.is_deepspeed_enabled:
        return zero.gather_weights(trainer.model_wrapped, only_trained=hasattr(trainer.model, "peft_config"))
    if trainer.is_fsdp_enabled:
        return dict(trainer.accelerator.get_state_dict(trainer.model))
    return None


def layers_are_sharded(model: Any) -> bool:
    """Tell whether each process holds only a part of every layer, so that none may stop asking before the others."""
    from torch import distributed
    from transformers.integrations import is_deepspeed_zero3_enabled

    alone = not distributed.is_initialized() or distributed.get_world_size() == 1
    return not alone and (is_deepspeed_zero3_enabled() or hasattr(model, "unshard"))


@contextlib.contextmanager
def root_unsharded(model: Any) -> Iterator[None]:
    """Hold what FSDP2 shards outside the layers whole: generation calls the encoder without the model around it."""
    if not hasattr(model, "unshard"):
        yield
        return
    model.unshard()
    try:
        yield
    finally:
        model.reshard()


def finish_distributed(accelerator: Any) -> None:
    """Take this process out of the run, when all have come to its end.

    The others wait for the one that saves, and not only out of courtesy: gloo's threads still hold the tensors of the
    last exchange and need Python's lock to let go of them. A process that tears its group down at once holds that lock
    while it waits for the threads, now and then forever.
    """
    accelerator.wait_for_everyone()
    destroy_deepspeed()
    accelerator.end_training()


def reset_distributed() -> None:
    """Leave nothing of this run in the libraries' own memory, so that another one can be made in this process."""
    from torch import distributed

    if distributed.is_initialized() and distributed.get_world_size() == 1:  # several that failed end as they can
        destroy_deepspeed()
    if distributed.is_initialized() and distributed.get_world_size() == 1:
        distributed.destroy_process_group()
    reset_training_state()
