"""ZeRO-2: gradients and optimizer are sharded, the weights are whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsa_whisper.finetuning.strategies.deepspeed import OPTIMIZER_OFFLOADS, DeepSpeed

if TYPE_CHECKING:
    from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration


class Zero2(DeepSpeed):
    """DeepSpeed with each process's share of gradients and moments."""

    name, stage = "zero2", 2
    offloads = OPTIMIZER_OFFLOADS
    computes_base = True

    def master_bytes(self, configuration: TrainingConfiguration) -> int:
        """Return the bytes of an fp32 number: each process's share of the weights is copied for its optimizer."""
        return 4
