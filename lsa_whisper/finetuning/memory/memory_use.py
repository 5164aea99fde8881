"""Peak memory of training: on each GPU, on the host and on disk, and without a GPU.

The figures for GPUs are derived from what torch, DeepSpeed and FSDP keep; ``benchmarks/gpu`` compares them with
measurements. Without a GPU everything is in host memory. DeepSpeed then uses it as its "GPU" memory: what it offloads
is copied, not moved, so offloading to the CPU costs more than plain AdamW. These figures are fitted to measured runs
(``benchmarks/results/memory_cpu.json``).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from lsa_whisper.finetuning.memory.activations import activations, stage_activations
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.strategies.base import GpuLoad
from lsa_whisper.finetuning.strategies.deepspeed import BUCKET, SWAPPED_BUCKET
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch, ParameterCounts
from lsa_whisper.finetuning.workload.stages import stage_parts
from lsa_whisper.system.machine import GIB

CONTEXT = round(0.6 * GIB)
"""Memory of the CUDA context, libraries and kernels before the first tensor."""
_GPU_PROCESS_BYTES = round(3.0 * GIB)
"""Resident memory of a process with torch (CUDA) and transformers loaded."""
LOADER = round(0.7 * GIB)
"""Resident memory of one data loader worker."""
PINNED = 1.25
"""Average overhead of pinned memory: torch rounds each block up to a power of two."""
FRAGMENTED = 1.05
"""Overhead of fragmentation in torch's caching allocator."""
SWAP_BUFFERS = 7
"""Buffers, each as large as a sub-group, through which DeepSpeed swaps an optimizer (fitted without a GPU)."""
SUB_GROUP = 1e8
"""Elements after which DeepSpeed closes a sub-group; its last weight may be the token table and is not split."""


@dataclass(frozen=True)
class MemoryUse:
    """Bytes on one GPU, each part at its own peak; host and disk are for all processes together."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    buffers: int
    peak: int
    host: int
    disk: int


def memory_use(
    counts: ParameterCounts,
    configuration: TrainingConfiguration,
    micro_batch: MicroBatch,
    *,
    gpus: int,
    workers: int = 0,
    checkpoints: int = 2,
) -> MemoryUse:
    """Return the memory that a configuration needs with one process per GPU.

    ``workers`` are those of the data loader for each process, ``checkpoints`` those on disk at the same time.
    """
    ranks = 1 if strategy_of(configuration).is_single else gpus
    host_and_disk = host_bytes(counts, configuration, ranks, workers), disk_bytes(counts, configuration, checkpoints)
    if configuration.stages == 1:
        passing = activations(counts.shape, configuration, micro_batch)
        return _on_gpu(counts, configuration, micro_batch, ranks, passing, host_and_disk)
    parts = stage_parts(counts.shape, configuration.stages)
    passing_bytes = stage_activations(counts.shape, configuration, micro_batch)
    again = dataclasses.replace(micro_batch, accumulates=True)
    stages = (
        _on_gpu(counts.of_stage(part), configuration, again, ranks, passing, host_and_disk)
        for part, passing in zip(parts, passing_bytes, strict=True)
    )
    return max(stages, key=lambda stage: stage.peak)


def _on_gpu(
    counts: ParameterCounts,
    configuration: TrainingConfiguration,
    micro_batch: MicroBatch,
    ranks: int,
    passing: int,
    host_and_disk: tuple[int, int],
) -> MemoryUse:
    """Return the memory of a GPU whose activations take ``passing`` bytes, with that of the host and the disk."""
    weights, gradients, optimizer = _gpu_states_bytes(counts, configuration, ranks)
    always, forward, step = strategy_of(configuration).buffers(GpuLoad(counts, configuration, micro_batch, ranks))
    always += CONTEXT
    activation_bytes = round(FRAGMENTED * passing)
    # Gradients replace activations, unless those of earlier micro-batches exist already; then both exist at once.
    earlier = gradients if micro_batch.accumulates else 0
    changing = max(activation_bytes + forward + earlier, gradients + step)
    return MemoryUse(
        weights,
        gradients,
        optimizer,
        activation_bytes,
        always + max(forward, step),
        weights + optimizer + changing + always,
        *host_and_disk,
    )


def _gpu_states_bytes(
    counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int
) -> tuple[int, int, int]:
    """Return the bytes of weights, gradients and optimizer on one GPU.

    torchao's CPU optimizer leaves weights and gradients on the GPU; DeepSpeed and FSDP offload gradients too.
    """
    p, share, strategy = counts.trained, 1.0, strategy_of(configuration)
    if configuration.layer_ranks > 1:
        p, total = counts.on_one_rank(configuration.layer_ranks)
        share, ranks = total / counts.total, ranks // configuration.layer_ranks
    width = configuration.weight_bytes
    moments = 0.0 if configuration.optimizer == "adamw-cpu" else configuration.moment_bytes
    # bitsandbytes keeps both moments of embeddings in 32 bits.
    wide = (8 - moments) * counts.embeddings if configuration.optimizer == "adamw-8bit" else 0.0
    master = strategy.master_bytes
    shared_weights = ranks if strategy.shards_weights else 1
    shared = ranks if strategy.shards_optimizer else 1
    weights = share * counts.bytes_in(width) / shared_weights if configuration.offload.parameters == "none" else 0.0
    # The base is copied before sharding and casting.
    weights += width * counts.base_copy
    if configuration.offload.optimizer == "none":
        gradients = 0 if configuration.steps_in_backward else width * p / shared
        return round(weights), round(gradients), round(((moments + master) * p + wide) / shared)
    return round(weights), 0, 0  # gradients are offloaded as they are computed


def host_bytes(counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int, workers: int) -> int:
    """Return the peak bytes on the host: what loading takes, or what is offloaded and saved afterwards."""
    p, total, strategy = counts.trained, counts.total, strategy_of(configuration)
    running = 0.0
    if configuration.offload.optimizer == "cpu" or configuration.optimizer == "adamw-cpu":
        running += PINNED * (16 * p)
    elif configuration.offload.optimizer == "nvme":
        running += PINNED * 4 * p + swap_buffers(counts)
    if configuration.offload.parameters == "cpu":
        # An optimizer that follows the parameters trains them there, without a copy.
        running += PINNED * 4 * (counts.frozen if strategy.offloads_together else total)
    elif configuration.offload.parameters == "nvme":
        running += 5 * 4 * 7e7
    loading = loading_bytes(counts, configuration, ranks)
    # The weights that stay on the host are there already when the last one is read.
    loading += PINNED * 4 * total if strategy.loads_by_weight and configuration.offload.parameters == "cpu" else 0
    saving = 4 * total if ranks > 1 or strategy.uses_deepspeed else 0
    return round(ranks * (_GPU_PROCESS_BYTES + workers * LOADER) + max(loading, running + saving))


def loading_bytes(counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int) -> float:
    """Return the bytes on the host through which all processes together load the model.

    Each process maps the file, whose pages count once, and copies it into weights. Under ZeRO-3 one process reads
    for all, and one weight at a time unless an adapter starts from the weights' values. Where the weights are trained
    in 16 bits, each one is copied onto the GPU alone.
    """
    file_width, strategy = counts.shape.stored, strategy_of(configuration)
    copies = configuration.adapter is not None and configuration.adapter.copies_weights
    if strategy.loads_by_weight and not copies:
        return (4 + file_width) * counts.shape.largest_weight
    width = configuration.weight_bytes
    if configuration.reads_onto_gpu:
        return file_width * counts.total + ranks * width * counts.shape.largest_weight
    return (width * (1 if strategy.loads_by_weight else ranks) + file_width) * counts.total


def swap_buffers(counts: ParameterCounts) -> float:
    """Return the bytes of host buffers through which an optimizer is swapped to disk."""
    return SWAP_BUFFERS * 4 * min(SUB_GROUP + counts.shape.largest_weight, counts.trained)


def disk_bytes(counts: ParameterCounts, configuration: TrainingConfiguration, checkpoints: int) -> int:
    """Return the bytes on disk: swap files, the model, and the checkpoints that are there at the same time."""
    p, total = counts.trained, counts.total
    width = configuration.weight_bytes
    whole = 4 * p if configuration.adapter else width * total
    checkpoint = whole + round(12 if strategy_of(configuration).uses_deepspeed else configuration.moment_bytes) * p
    return swap_bytes(counts, configuration) + checkpoints * checkpoint + whole


def swap_bytes(counts: ParameterCounts, configuration: TrainingConfiguration) -> int:
    """Return the bytes of DeepSpeed's swap files."""
    optimizer = 16 * counts.trained if configuration.offload.optimizer == "nvme" else 0
    return optimizer + (4 * counts.total if configuration.offload.parameters == "nvme" else 0)


_CPU_PROCESS_BYTES = round(0.75 * GIB)
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
    base = ranks * (_CPU_PROCESS_BYTES + (_DEEPSPEED_BYTES if strategy_of(configuration).uses_deepspeed else 0))
    before = base
    if configuration.precision == "pure-bf16":
        before, base = ranks * _LOADING_16_BIT_BYTES, ranks * _TRAINING_16_BIT_BYTES
    file_bytes = 4 if strategy_of(configuration).loads_by_weight else counts.shape.stored
    width = configuration.weight_bytes
    loading = counts.total * (width * ranks + file_bytes)
    if configuration.stages > 1:
        passing = sum(stage_activations(counts.shape, configuration, micro_batch))
    else:
        passing = ranks * activations(counts.shape, configuration, micro_batch)
    training = passing + _cpu_states_bytes(counts, configuration, ranks)
    return round(max(before + loading, base + training))


def _cpu_states_bytes(counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int) -> float:
    """Return the bytes of weights, gradients, moments and their copies in all processes together."""
    p, total = counts.trained, counts.total
    if not strategy_of(configuration).uses_deepspeed:
        width = configuration.weight_bytes
        replicas: float = 1 if strategy_of(configuration).shards_weights else ranks
        if configuration.layer_ranks > 1:
            replicas = configuration.layer_ranks * counts.on_one_rank(configuration.layer_ranks)[1] / total
        if configuration.stages > 1:
            parts = stage_parts(counts.shape, configuration.stages)
            replicas = sum(part.parameters(counts.shape) for part in parts) / counts.shape.parameters
        casts = 2 * (total - counts.quantized) if configuration.autocasts else 0
        gradients = 8 * counts.shape.largest_weight if configuration.steps_in_backward else width * p
        return replicas * (
            counts.bytes_in(width) + width * counts.base_copy + gradients + configuration.moment_bytes * p + casts
        )
    width = configuration.computed_bytes
    weights = deepspeed_weights(counts, configuration, width, ranks)
    if configuration.offload.optimizer == "nvme":
        return weights + 4 * p + swap_buffers(counts) + 2 * width * min(SWAPPED_BUCKET, p)
    # From the second step on, moments exist while gradients pass through the bucket and exist twice in fp32.
    return weights + 24 * p + 2 * width * min(BUCKET, p)


def deepspeed_weights(counts: ParameterCounts, configuration: TrainingConfiguration, width: int, ranks: int) -> float:
    """Return the bytes of DeepSpeed's weights: the shards of all processes, and what each gathers at once."""
    if configuration.offload.parameters == "nvme":
        return 5 * 4 * 7e7 * ranks
    sharded = 4 * counts.total if strategy_of(configuration).shards_weights else 0
    return sharded + ranks * width * counts.total
