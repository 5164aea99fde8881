"""ZeRO-3: weights, too, are sharded, gathered layer by layer, and read one after the other."""

from __future__ import annotations

from typing import Any

from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import Unread
from lsa_whisper.finetuning.strategies.deepspeed import OPTIMIZER_OFFLOADS, DeepSpeed


class Zero3(DeepSpeed):
    """DeepSpeed with each process's share of everything."""

    name, stage = "zero3", 3
    offloads = (*OPTIMIZER_OFFLOADS, ("parameters", "cpu"), ("parameters", "nvme"))
    shards_weights = loads_by_weight = True

    def divide(self, model: Any, recipe: RunSettings, unread: Unread = None) -> None:
        """Partition each weight as it is read."""
        from lsa_whisper.finetuning.distributed.zero import partition_weights

        partition_weights(model, recipe, unread)
