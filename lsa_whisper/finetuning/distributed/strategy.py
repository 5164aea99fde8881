"""The strategy of a run, as arguments and operations of one trainer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsa_whisper.checkpoint import StoredWeights
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed import fsdp, tensor, zero, zero_loading
from lsa_whisper.finetuning.distributed.pipeline import Pipeline
from lsa_whisper.finetuning.distributed.ranks import is_launched, join_ranks
from lsa_whisper.finetuning.distributed.tensor import rank_mesh
from lsa_whisper.finetuning.distributed.whole_states import is_divided, load_whole_weights, whole_weights
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.system.library_internals import destroy_deepspeed, reset_training_state

_ZERO = ("zero2", "zero3")


def strategy_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's strategy adds to ``Seq2SeqTrainingArguments``.

    Raises:
        MissingExtraError: If the strategy needs DeepSpeed and it is not installed.
        RecipeError: If it cannot run with these processes or on this machine.
    """
    if recipe.strategy in _ZERO:
        zero.require_deepspeed(recipe)
        return {"deepspeed": zero.deepspeed_config(recipe.strategy, recipe.offload, recipe.deepspeed)}
    if _is_fsdp(recipe):
        return fsdp.fsdp_arguments(recipe)
    return {}


def _is_fsdp(recipe: Recipe) -> bool:
    return bool(recipe.strategy == "fsdp2" and recipe.fsdp.sharding_strategy != "no_shard")


def init_distributed(recipe: Recipe) -> None:
    """Initialize the process group, if the strategy needs it before the model is loaded."""
    if recipe.strategy in _ZERO:
        zero.require_deepspeed(recipe)
        zero.init_process_group()
    elif _is_fsdp(recipe) and not is_launched():
        raise RecipeError("strategy: fsdp2 needs several processes; set --processes, or use single")
    elif recipe.strategy in ("tensor_parallel", "pipeline"):
        join_ranks(recipe.strategy)


@dataclass(frozen=True)
class Division:
    """A model that is divided among ranks which train on the same windows.

    Attributes:
        mesh: The device mesh; the ranks with the same windows are its dimension ``tp``.
        pipeline: The schedule of stages; ``None`` if each layer is divided.
    """

    mesh: Any
    pipeline: Pipeline | None = None


def divide_model(
    model: Any, recipe: Recipe, unread: StoredWeights | None = None, stages: Sequence[int] = ()
) -> Division | None:
    """Divide ``model`` among ranks if the strategy does so before training; return how layers are divided, if they are.

    Args:
        model: The model to train, changed in place.
        recipe: Names the strategy.
        unread: The weights that are still to be read.
        stages: Layers of each stage of a pipeline.
    """
    if zero_loading.partitions_while_loading(recipe):
        zero_loading.partition_weights(model, recipe, unread)
    if recipe.strategy == "pipeline":
        found = Division(rank_mesh(recipe, 1, len(stages)), Pipeline(model, recipe, stages))
    elif recipe.strategy == "tensor_parallel":
        found = Division(tensor.parallelize(model, recipe))
    else:
        return None
    load_whole_weights(model)
    return found


def gather_weights(trainer: Any) -> dict[str, Any] | None:
    """Return the gathered weights of a sharded model, ``None`` if it is not sharded; every rank must call this.

    For a model with an adapter only trained weights are gathered, since only these are saved.
    """
    if trainer.is_deepspeed_enabled:
        return zero.gather_zero_weights(trainer.model_wrapped, only_trained=hasattr(trainer.model, "peft_config"))
    if trainer.is_fsdp_enabled:
        return dict(trainer.accelerator.get_state_dict(trainer.model))
    if is_divided(trainer.model):
        return whole_weights(trainer.model, only_trained=hasattr(trainer.model, "peft_config"))
    return None


def layers_are_sharded(model: Any) -> bool:
    """Return whether layers are sharded over ranks, so that all ranks must run the same number of forward passes."""
    from torch import distributed
    from transformers.integrations import is_deepspeed_zero3_enabled

    alone = not distributed.is_initialized() or distributed.get_world_size() == 1
    return not alone and (is_deepspeed_zero3_enabled() or hasattr(model, "unshard"))


@contextlib.contextmanager
def root_unsharded(model: Any) -> Iterator[None]:
    """Unshard what FSDP2 shards outside the layers: generation calls the encoder without the root module."""
    if not hasattr(model, "unshard"):
        yield
        return
    model.unshard()
    try:
        yield
    finally:
        model.reshard()


def finish_distributed(accelerator: Any) -> None:
    """Wait for all ranks, then destroy the process group.

    The barrier also prevents a deadlock: gloo's threads hold the tensors of the last collective and need the GIL to
    release them. A rank that destroys its group at once holds the GIL while it waits for these threads.
    """
    accelerator.wait_for_everyone()
    destroy_deepspeed()
    accelerator.end_training()


def reset_distributed() -> None:
    """Clear the libraries' global state of this run, so that this process can start another."""
    from torch import distributed

    if (
        distributed.is_initialized() and distributed.get_world_size() == 1
    ):  # several ranks after a failure cannot synchronize
        destroy_deepspeed()
    if distributed.is_initialized() and distributed.get_world_size() == 1:
        distributed.destroy_process_group()
    reset_training_state()
