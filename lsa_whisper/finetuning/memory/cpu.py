"""Memory of training without a GPU, where everything is in host memory.

DeepSpeed then uses host memory as its "GPU" memory: what it offloads is copied, not moved, so offloading to the CPU
costs more than plain AdamW. The figures are fitted to measured runs
(``benchmarks/results/memory_cpu.json``).
"""

from __future__ import annotations

from lsa_whisper.finetuning.memory.activations import MicroBatch, activations, stage_activations
from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration
from lsa_whisper.finetuning.memory.gpu import swap_buffers
from lsa_whisper.finetuning.memory.parameter_counts import ParameterCounts
from lsa_whisper.finetuning.memory.stages import stage_parts
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.strategies.deepspeed import BUCKET, SWAPPED_BUCKET
from lsa_whisper.system.machine import GIB

_PROCESS_BYTES = round(0.75 * GIB)
"""Resident memory of a process with torch, transformers and datasets loaded."""
_LOADING_16_BIT_BYTES, _TRAINING_16_BIT_BYTES = round(0.48 * GIB), round(0.64 * GIB)
"""The same where weights are read, and then trained, in 16 bits: the file is unmapped before training begins."""
_DEEPSPEED_BYTES = round(0.1 * GIB)
"""Additional resident memory with DeepSpeed."""


def cpu_run_bytes(
    counts: ParameterCounts, configuration: TrainingConfiguration, micro_batch: MicroBatch, *, ranks: int
) -> int:
    """Return the peak bytes of all processes together, during loading or training.

    Loading maps the file into memory (its pages count once) and copies it into weights in each process. For ZeRO-3
    this is an upper bound: it reads one weight after the other.
    """
    base = ranks * (_PROCESS_BYTES + (_DEEPSPEED_BYTES if configuration.is_deepspeed else 0))
    before = base
    if configuration.precision == "pure-bf16":
        before, base = ranks * _LOADING_16_BIT_BYTES, ranks * _TRAINING_16_BIT_BYTES
    file_bytes = 4 if strategy_of(configuration).loads_by_weight else counts.shape.stored
    one = strategy_of(configuration).weight_bytes(configuration.precision)
    loading = counts.total * (one * ranks + file_bytes)
    if configuration.stages > 1:
        passing = sum(stage_activations(counts.shape, configuration, micro_batch))
    else:
        passing = ranks * activations(counts.shape, configuration, micro_batch)
    training = passing + _states_bytes(counts, configuration, ranks)
    return round(max(before + loading, base + training))


def _states_bytes(counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int) -> float:
    """Return the bytes of weights, gradients, moments and their copies in all processes together."""
    p, total = counts.trained, counts.total
    if not configuration.is_deepspeed:
        one = 2 if configuration.precision == "pure-bf16" else 4
        replicas: float = 1 if strategy_of(configuration).shards_weights else ranks
        if configuration.layer_ranks > 1:
            replicas = configuration.layer_ranks * counts.on_one_rank(configuration.layer_ranks)[1] / total
        if configuration.stages > 1:
            parts = stage_parts(counts.shape, configuration.stages)
            replicas = sum(part.parameters(counts.shape) for part in parts) / counts.shape.parameters
        casts = 2 * (total - counts.quantized) if configuration.autocast else 0
        gradients = 8 * counts.shape.largest_weight if configuration.steps_in_backward else one * p
        return replicas * (
            counts.bytes_in(one) + one * counts.base_copy + gradients + configuration.moment_bytes * p + casts
        )
    one = configuration.computed_bytes
    if configuration.offload.optimizer == "nvme":
        reduced = 2 * one * min(SWAPPED_BUCKET, p)
        return deepspeed_weights(counts, configuration, one, ranks) + 4 * p + swap_buffers(counts) + reduced
    # From the second step on, moments exist while gradients pass through the bucket and exist twice in fp32.
    reduced = 2 * one * min(BUCKET, p)
    return deepspeed_weights(counts, configuration, one, ranks) + 24 * p + reduced


def deepspeed_weights(counts: ParameterCounts, configuration: TrainingConfiguration, one: int, ranks: int) -> float:
    """Return the bytes of DeepSpeed's weights: the shards of all processes, and what each gathers at once."""
    if configuration.offload.parameters == "nvme":
        return 5 * 4 * 7e7 * ranks
    sharded = 4 * counts.total if strategy_of(configuration).shards_weights else 0
    return sharded + ranks * one * counts.total
