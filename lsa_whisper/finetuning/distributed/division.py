"""Models that are divided or sharded among ranks: their layers, and their weights gathered again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lsa_whisper.finetuning.distributed import zero
from lsa_whisper.finetuning.distributed.pipeline import Pipeline
from lsa_whisper.finetuning.distributed.whole_states import is_divided, whole_weights, without_tied
from lsa_whisper.system.deepspeed_internals import destroy_deepspeed
from lsa_whisper.system.library_internals import reset_training_state


@dataclass(frozen=True)
class Division:
    """A model that is divided among ranks which train on the same windows.

    Attributes:
        mesh: The device mesh; the ranks with the same windows are its dimension ``tp``.
        pipeline: The schedule of stages; ``None`` if each layer is divided.
    """

    mesh: Any
    pipeline: Pipeline | None = None


def gather_weights(trainer: Any) -> dict[str, Any] | None:
    """Return the gathered weights of a sharded model, ``None`` if it is not sharded; every rank must call this.

    For a model with an adapter only trained weights are gathered, since only these are saved.
    """
    adapted = hasattr(trainer.model, "peft_config")
    if trainer.is_deepspeed_enabled:
        weights = zero.gather_zero_weights(trainer.model_wrapped, only_trained=adapted)
    elif trainer.is_fsdp_enabled:
        weights = dict(trainer.accelerator.get_state_dict(trainer.model))
    elif is_divided(trainer.model):
        weights = whole_weights(trainer.model, only_trained=adapted)
    else:
        return None
    return weights if adapted else without_tied(trainer.model, weights)


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
