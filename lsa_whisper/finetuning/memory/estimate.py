"""Memory estimates for every training configuration of a model, with a recommendation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from lsa_whisper.checkpoint.choice import resolve_model
from lsa_whisper.checkpoint.whisper_constants import DECODER_POSITIONS
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.memory import configuration as choice
from lsa_whisper.finetuning.memory.plan import Hardware, Plan, TrainingJob
from lsa_whisper.finetuning.memory.table import Estimate
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.settings.values import Range
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch, ParameterCounts
from lsa_whisper.finetuning.workload.shape import Shape, adapted_shape, recipe_shape, shape_of
from lsa_whisper.system.device import sixteen_bit_precision
from lsa_whisper.system.machine import available_memory_gib

_LORA_FROM = 30e6
"""Parameters from which a LoRA is recommended: a smaller model has no room to spare for one."""


def estimate_memory(
    model: str,
    *,
    recipe: Path | None = None,
    set: Sequence[str] = (),
    gpus: int = 1,
    gpu_memory: float = 24.0,
    host_memory: float | None = None,
    batch_size: int | None = None,
    label_tokens: int = 128,
) -> Estimate:
    """Return the memory that each training configuration of ``model`` needs.

    Args:
        model: A published model (``tiny`` ... ``large-v3``, ``turbo``, ``small.en``, ``distil-large-v3``), ``nano``, or
            a checkpoint directory.
        recipe: Recipe whose adapter, trained weights, batch, checkpointing and workers replace the defaults.
        set: Overrides for the recipe.
        gpus: Number of GPUs; 0 trains on the CPU.
        gpu_memory: GiB of each GPU (a GPU sold as 24 GB has 24 GiB).
        host_memory: GiB of host memory; by default, this machine's without a GPU, and no limit with GPUs.
        batch_size: Windows per micro-batch; by default the recipe's, or the largest that fits.
        label_tokens: Tokens in the longest label; 30 s of speech are about 100 to 150 tokens.

    Raises:
        CheckpointError: If ``model`` is neither a published model nor a checkpoint directory.
        RecipeError: If the recipe has problems, or a number is out of range.
    """
    _check_numbers(gpus, gpu_memory, host_memory, batch_size, label_tokens)
    settings = recipes.read_recipe(Path(recipe), set=set) if recipe else None
    shape = shape_of(str(resolve_model(model)))
    shape = adapted_shape(shape, settings.model) if settings else shape
    host = available_memory_gib() if gpus == 0 and host_memory is None else host_memory
    hardware = Hardware(gpus, gpu_memory, host)
    job = _job(shape, hardware, settings) if settings else TrainingJob(shape, hardware)
    micro_batch = micro_batch_of(settings, batch_size, label_tokens)
    modes = configurations_for(hardware, settings, lora_first=shape.parameters >= _LORA_FROM)
    plans = tuple(job.plan(mode, micro_batch) for mode in modes if job.supports(mode))
    counts = ParameterCounts.of(shape, settings.adapter, settings.model) if settings else ParameterCounts.of(shape)
    return Estimate(model, shape.parameters, counts.trained, plans, settings, settings is None and batch_size is None)


def _check_numbers(
    gpus: int, gpu_memory: float, host_memory: float | None, batch_size: int | None, label_tokens: int
) -> None:
    limits: tuple[tuple[str, float | None, Range], ...] = (
        ("gpus", gpus, Range(least=0)),
        ("gpu-memory", gpu_memory, Range(least=1 if gpus else 0)),
        ("host-memory", host_memory, Range(least=1)),
        ("batch-size", batch_size, Range(least=1)),
        ("label-tokens", label_tokens, Range(least=1, most=DECODER_POSITIONS)),
    )
    wrong = [
        f"{name}: {problem}"
        for name, value, limit in limits
        for problem in (limit.problems(value) if value is not None else ())
    ]
    if wrong:
        raise RecipeError("; ".join(wrong))


def configurations_for(
    hardware: Hardware, recipe: Recipe | None = None, *, processes: int = 1, lora_first: bool = False
) -> tuple[TrainingConfiguration, ...]:
    """Return the training configurations possible on ``hardware``, with the recipe's adapter and swap folder.

    With several processes, ``single`` becomes ``ddp``, as transformers does. Without a GPU, fp32 comes first, and what
    needs a GPU is left out: torchao's optimizer offloads from one, bitsandbytes is for them.
    """
    adapter, path = (recipe.adapter, recipe.offload.nvme_path) if recipe else (None, None)
    modes = choice.training_configurations(adapter, path or choice.SWAP, adapter_first=lora_first and recipe is None)
    half = choice.configuration_of(recipe).precision if recipe else sixteen_bit_precision()
    if half == "fp16":
        modes = tuple(dataclasses.replace(mode, precision=half) if mode.precision == "bf16" else mode for mode in modes)
        modes = tuple(mode for mode in modes if mode.precision != "pure-bf16")
    ranks = max(hardware.gpus, processes)
    if ranks > 1 or (recipe and recipe.training.gradient_accumulation_steps > 1):
        modes = tuple(mode for mode in modes if not mode.steps_in_backward)
    modes = tuple(strategy_of(mode).on_ranks(mode, ranks) for mode in modes)
    if not hardware.gpus:
        own = set(choice.packages_of(choice.configuration_of(recipe))) if recipe else set()
        modes = tuple(mode for mode in modes if not {"torchao", "bitsandbytes"} & set(choice.packages_of(mode)) - own)
        modes = tuple(sorted(modes, key=lambda mode: mode.precision != "fp32" and not strategy_of(mode).uses_deepspeed))
    return tuple(dict.fromkeys(modes))


def estimate_run(recipe: Recipe, hardware: Hardware, *, processes: int = 1, label_tokens: int = 128) -> Plan:
    """Return the plan of ``recipe`` as it stands.

    Raises:
        CheckpointError: If its model is neither on this machine nor of a known size.
        RecipeError: If the ranks cannot be divided into groups that share each layer.
    """
    ranks, sharers = max(hardware.gpus, processes), recipe.tensor_parallel or 1
    if ranks < sharers or ranks % sharers:
        raise RecipeError(
            f"tensor_parallel: {sharers} ranks share each layer, so use a multiple of {sharers}, not {ranks}"
        )
    job = _job(recipe_shape(recipe), hardware, recipe, processes)
    configuration = choice.configuration_of(recipe)
    on_ranks = strategy_of(recipe).on_ranks(configuration, ranks)
    return job.plan(on_ranks, micro_batch_of(recipe, None, label_tokens))


def _job(shape: Shape, hardware: Hardware, recipe: Recipe, processes: int = 1) -> TrainingJob:
    averages = recipe.training.ema_decay is not None
    return TrainingJob(
        shape, hardware, recipe.model, recipe.data.workers, processes, recipe.checkpoints_on_disk, averages
    )


def micro_batch_of(recipe: Recipe | None, batch_size: int | None, label_tokens: int) -> MicroBatch:
    """Return the micro-batch of a recipe; without one, one window with gradient checkpointing."""
    if recipe is None:
        return MicroBatch(batch_size or 1, label_tokens)
    training = recipe.training
    return MicroBatch(
        batch=batch_size or training.per_device_train_batch_size,
        label_tokens=label_tokens,
        checkpointing=training.gradient_checkpointing,
        accumulates=training.gradient_accumulation_steps > 1,
        uses_base=recipe.loss.kl_to_base > 0,
    )
