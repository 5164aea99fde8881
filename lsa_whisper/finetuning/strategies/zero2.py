"""ZeRO-2: gradients and optimizer are sharded, the weights are whole."""

from __future__ import annotations

from lsa_whisper.finetuning.strategies.deepspeed import OPTIMIZER_OFFLOADS, DeepSpeed


class Zero2(DeepSpeed):
    """DeepSpeed with each process's share of gradients and moments."""

    name, stage = "zero2", 2
    offloads = OPTIMIZER_OFFLOADS
    computes_base = True
    master_bytes = 4  # each process's share of the weights is copied for its optimizer
