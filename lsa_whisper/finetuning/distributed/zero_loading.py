"""Loading under ZeRO-3: rank 0 reads one weight after the other, and every rank keeps its part of each.

DeepSpeed's engine would first copy the whole model to every GPU, and every rank would need the whole model on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from lsa_whisper.checkpoint import StoredWeights
from lsa_whisper.finetuning.distributed.ranks import rank
from lsa_whisper.finetuning.distributed.zero import deepspeed_config

if TYPE_CHECKING:
    from lsa_whisper.finetuning.recipe import Recipe


def partition_weights(model: Any, recipe: Recipe, unread: StoredWeights | None) -> None:
    """Partition the weights of ``model`` over the ranks in place, one after the other.

    Args:
        model: The same on every rank; the values that count are those of rank 0.
        recipe: Names where the weights are kept.
        unread: The weights of ``model`` that rank 0 has not read yet.

    Raises:
        CheckpointError: If one of them cannot be read.
    """
    import deepspeed

    settings = deepspeed_config(3, recipe.offload, recipe.deepspeed)
    settings = {name: settings[name] for name in ("zero_optimization", "aio") if name in settings}
    settings["train_micro_batch_size_per_gpu"] = recipe.training.per_device_train_batch_size
    device = deepspeed.get_accelerator().current_device_name()
    weights = _OneAtATime(model, unread, device)
    deepspeed.zero.Init(module=weights, config_dict_or_path=settings, dtype=torch.float32)
    for buffer in model.buffers():  # the engine moves no model that is partitioned
        buffer.data = buffer.data.to(device)


class _OneAtATime(torch.nn.Module):  # type: ignore[misc]
    """The weights of a model, each made when DeepSpeed, which partitions it at once, asks for it."""

    def __init__(self, model: torch.nn.Module, unread: StoredWeights | None, device: str):
        super().__init__()
        self._weights, self._unread = list(model.parameters()), unread
        self._device = device

    def parameters(self, recurse: bool = True) -> Iterator[torch.nn.Parameter]:
        """Yield the weights: of rank 0 with their values, of the other ranks to receive them."""
        for weight in self._weights:
            if rank() != 0:
                weight.data = torch.empty(weight.shape, dtype=torch.float32, device=self._device)
            elif self._unread is not None and weight in self._unread:
                weight.data = self._unread.read(weight).float()
            else:
                weight.data = weight.data.float()
            yield weight
