"""What a way to train takes on a machine without a GPU, where everything lies in the host's memory.

DeepSpeed treats such a machine as one whose GPU is made of host memory: what it moves off "the GPU" is copied, not
moved, so that offloading to the CPU costs more than plain AdamW. The figures are fitted to measured runs
(``benchmarks/results/memory_cpu.json``).
"""

from __future__ import annotations

from lsa_whisper.finetune.memory.activations import MicroBatch, activations
from lsa_whisper.finetune.memory.configuration import TrainingConfiguration
from lsa_whisper.finetune.memory.gpu import BUCKET, SWAPPED_BUCKET, swap_buffers
from lsa_whisper.finetune.memory.parameter_counts import ParameterCounts
from lsa_whisper.machine import GIB

PROCESS = round(0.75 * GIB)
"""Resident memory of a process that has torch, transformers and datasets loaded."""
DEEPSPEED = round(0.1 * GIB)
"""What DeepSpeed adds to it."""


def host(counts: ParameterCounts, configuration: TrainingConfiguration, micro_batch: MicroBatch, *, ranks: int) -> int:
    """Return the bytes of all processes together at their peak: while they load, or while they train.

    Loading reads the file through memory (those pages count, once for all) into fp32 weights of each process. ZeRO-3
    lets go of the file as it shares the weights out, in the type it computes in.
    """
    base = ranks * (PROCESS + (DEEPSPEED if configuration.is_deepspeed else 0))
    besides = configuration.deepspeed_bytes if configuration.strategy == "zero3" else counts.shape.stored
    loading = counts.total * (4 * ranks + besides)
    training = ranks * activations(counts.shape, configuration, micro_batch) + states(counts, configuration, ranks)
    return round(base + max(loading, training))


def states(counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int) -> float:
    """Return the bytes of weights, gradients, moments and their copies in all processes together."""
    p, total = counts.trained, counts.total
    if not configuration.is_deepspeed:
        one = 2 if configuration.precision == "pure-bf16" else 4
        sharers = 1 if configuration.strategy == "fsdp2" else ranks
        casts = 2 * (total - counts.quantized) if configuration.autocast else 0
        return sharers * (counts.bytes_in(one) + one * counts.base_copy + (one + configuration.moments) * p + casts)
    one = configuration.deepspeed_bytes
    if configuration.offload.optimizer == "nvme":
        reduced = 2 * one * min(SWAPPED_BUCKET, p)
        return deepspeed_weights(counts, configuration, one, ranks) + one * p + swap_buffers(counts) + reduced
    # From the second step on the moments are there while gradients pass through the bucket, and lie there twice.
    reduced = 2 * one * min(BUCKET, p)
    return deepspeed_weights(counts, configuration, one, ranks) + (16 + 2 * one) * p + reduced


def deepspeed_weights(counts: ParameterCounts, configuration: TrainingConfiguration, one: int, ranks: int) -> float:
    """Return the bytes of DeepSpeed's weights: the shard of each process, and what is gathered in each at once."""
    if configuration.offload.parameters == "nvme":
        return 5 * one * 7e7 * ranks
    sharded = one * counts.total if configuration.strategy == "zero3" else 0
    return sharded + ranks * one * counts.total
