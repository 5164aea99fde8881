"""ZeRO-2: gradients and optimizer are sharded, the weights are whole."""

from lsa_whisper.finetuning.strategies.deepspeed import OPTIMIZER_OFFLOADS, DeepSpeed


class Zero2(DeepSpeed):
    """DeepSpeed with each process's share of gradients and moments."""

    name, stage = "zero2", 2
    offloads = OPTIMIZER_OFFLOADS
    computes_base = True
