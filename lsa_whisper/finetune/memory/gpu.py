"""What a way to train takes on each GPU, on its host and on disk.

Reckoned from what torch, DeepSpeed and FSDP keep, not yet measured on a GPU (``benchmarks/gpu_finetune.py`` does).
"""

from __future__ import annotations

from dataclasses import dataclass

from lsa_whisper.finetune.memory.activations import MicroBatch, activations
from lsa_whisper.finetune.memory.configuration import TrainingConfiguration
from lsa_whisper.finetune.memory.parameter_counts import ParameterCounts
from lsa_whisper.machine import GIB

CONTEXT = round(0.6 * GIB)
"""What CUDA, its libraries and their kernels take before the first tensor."""
PROCESS = round(3.0 * GIB)
"""Resident memory of a process that has torch with CUDA and transformers loaded."""
LOADER = round(0.7 * GIB)
"""One process that reads audio beside the training."""
PINNED = 1.25
"""torch pins host memory in pieces rounded up to a power of two: between nothing and as much again."""
FRAGMENTED = 1.05
BUCKET, SWAPPED_BUCKET = 5e8, 5e7
"""Numbers in the bucket through which DeepSpeed reduces gradients; smaller where anything is on NVMe."""
SWAP_BUFFERS = 7
"""Buffers of a sub-group's size through which DeepSpeed swaps an optimizer (fitted without a GPU)."""
SUB_GROUP = 1e8
"""Numbers after which DeepSpeed closes a sub-group; its last weight may be the vocabulary's, and stays whole."""
LIVE = 1e9
"""Numbers that ZeRO-3 keeps gathered at once; with parameters on NVMe, only those in use."""


@dataclass(frozen=True)
class MemoryUse:
    """Bytes on one GPU, each part at its largest; on the host and on disk, all processes together."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    buffers: int
    peak: int
    host: int
    disk: int


def parts(
    counts: ParameterCounts,
    configuration: TrainingConfiguration,
    micro_batch: MicroBatch,
    *,
    gpus: int,
    workers: int = 0,
    saves: bool = True,
) -> MemoryUse:
    """Return what ``configuration`` takes with so many processes, one for each GPU; ``saves``: also on the way."""
    ranks = 1 if configuration.strategy == "single" else gpus
    weights, gradients, optimizer = states(counts, configuration, ranks)
    always, forward, step = buffers(counts, configuration, micro_batch, ranks)
    working = round(FRAGMENTED * activations(counts.shape, configuration, micro_batch))
    # Gradients come as activations go, unless earlier micro-batches have left theirs; then both are there at once.
    earlier = gradients if micro_batch.accumulates else 0
    changing = max(working + forward + earlier, gradients + step)
    return MemoryUse(
        weights,
        gradients,
        optimizer,
        working,
        always + max(forward, step),
        weights + optimizer + changing + always,
        host(counts, configuration, ranks, workers),
        disk(counts, configuration, saves),
    )


def states(counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int) -> tuple[int, int, int]:
    """Return the bytes of weights, gradients and optimizer on one GPU.

    torchao's optimizer on the CPU leaves weights and gradients on the GPU; DeepSpeed and FSDP take the gradients along.
    """
    p, one = (
        counts.trained,
        {"fp32": 4, "pure-bf16": 2, "bf16": 2 if configuration.is_deepspeed else 4}[configuration.precision],
    )
    moments = 0.0 if configuration.optimizer == "adamw-cpu" else configuration.moments
    master = 4 if configuration.is_deepspeed else 0
    shared_weights = ranks if configuration.strategy in ("zero3", "fsdp2") else 1
    shared = ranks if configuration.strategy in ("zero2", "zero3", "fsdp2") else 1
    weights = counts.bytes_in(one) / shared_weights if configuration.offload.parameters == "none" else 0.0
    weights += (
        2 if configuration.precision == "pure-bf16" else 4
    ) * counts.base_copy  # the base is copied before anything else
    if configuration.offload.optimizer == "none":
        return round(weights), round(one * p / shared), round((moments + master) * p / shared)
    return round(weights), 0, 0  # gradients are sent off as they come


def buffers(
    counts: ParameterCounts, configuration: TrainingConfiguration, micro_batch: MicroBatch, ranks: int
) -> tuple[int, int, int]:
    """Return the bytes of what is there all the time, of what only the forward pass and of what only the step needs."""
    one = configuration.deepspeed_bytes
    layer = max(counts.shape.encoder_layer, counts.shape.decoder_layer)
    if configuration.strategy == "fsdp2":
        return CONTEXT + 2 * one * (counts.shape.outside_layers + 3 * layer), 0, 0
    if configuration.is_deepspeed:
        gathers = configuration.strategy == "zero3" and (ranks > 1 or configuration.offload.parameters != "none")
        swaps = "nvme" in (configuration.offload.optimizer, configuration.offload.parameters)
        live = LIVE if configuration.offload.parameters != "nvme" else 2 * max(layer, counts.shape.largest_weight)
        bucket = min(SWAPPED_BUCKET if swaps else BUCKET, counts.trained)
        always = one * (bucket + (min(live, counts.total) if gathers else 0))
        # The step takes fp32 gradients where the weights are 16-bit.
        step = 4 * counts.trained // ranks if configuration.offload.optimizer == "none" and one == 2 else 0
        return CONTEXT + round(always), 0, step
    always = 4 * counts.trained if configuration.strategy == "ddp" and ranks > 1 else 0
    # A trained weight's 16-bit copy lives through the forward pass; a frozen one's only as long as its layer is kept.
    frozen = 2 * layer if micro_batch.checkpointing else counts.frozen - counts.quantized
    copied = counts.trained + frozen if configuration.autocast else 0
    # Adafactor squares a gradient and makes an update of it, one weight at a time.
    step = 8 * counts.shape.largest_weight if configuration.optimizer == "adafactor" else 0
    return CONTEXT + always, 2 * copied, step


def host(counts: ParameterCounts, configuration: TrainingConfiguration, ranks: int, workers: int) -> int:
    """Return the bytes on the host: every process loads the fp32 model once, then what is moved off the GPU stays."""
    p, total = counts.trained, counts.total
    running = 0.0
    if configuration.offload.optimizer == "cpu" or configuration.optimizer == "adamw-cpu":
        running += PINNED * (16 * p)
    elif configuration.offload.optimizer == "nvme":
        running += PINNED * configuration.deepspeed_bytes * p + swap_buffers(counts)
    if (
        configuration.offload.parameters == "cpu" and configuration.strategy != "fsdp2"
    ):  # FSDP's optimizer has no weights of its own
        running += PINNED * configuration.deepspeed_bytes * total
    elif configuration.offload.parameters == "cpu":
        running += PINNED * 4 * counts.frozen
    elif configuration.offload.parameters == "nvme":
        running += 5 * 2 * 7e7
    loading = (4 * ranks + counts.shape.stored) * total
    saving = 4 * total if ranks > 1 or configuration.is_deepspeed else 0
    return round(ranks * (PROCESS + workers * LOADER) + max(loading, running + saving))


def swap_buffers(counts: ParameterCounts) -> float:
    """Return the bytes of the buffers between the host's memory and the disk, in which an optimizer is swapped."""
    return SWAP_BUFFERS * 4 * min(SUB_GROUP + counts.shape.largest_weight, counts.trained)


def disk(counts: ParameterCounts, configuration: TrainingConfiguration, saves: bool) -> int:
    """Return the bytes of swap files, the model and, on the way, checkpoints: one stays until the next is whole."""
    p, total = counts.trained, counts.total
    whole = 4 * (p if configuration.adapter else total)
    checkpoint = whole + (12 if configuration.is_deepspeed else 8) * p
    return swap(counts, configuration) + (2 * checkpoint if saves else 0) + whole


def swap(counts: ParameterCounts, configuration: TrainingConfiguration) -> int:
    """Return the bytes of DeepSpeed's swap files."""
    optimizer = 16 * counts.trained if configuration.offload.optimizer == "nvme" else 0
    return optimizer + (2 * counts.total if configuration.offload.parameters == "nvme" else 0)
