"""Estimates of the memory that fine-tuning needs, and whether a recipe fits this machine, before anything is loaded.

Model states per trained parameter follow Rajbhandari et al. 2020 (ZeRO): weight, gradient and two moments of AdamW, 4
bytes each in fp32, and what each strategy adds, halves, shares or moves. Activations follow from the layers' shapes.
Overheads were measured on a CPU (``benchmarks/memory_cpu.py``); on GPUs they are derived. For a recipe that does not
fit, the nearest plan that does is named.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import manifest
from lsa_whisper.checkpoint.whisper_constants import DECODER_POSITIONS
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.distributed.ranks import local_rank, ranks_of_run
from lsa_whisper.finetuning.memory.configuration import (
    adapter_keys,
    configuration_of,
    missing_packages,
    offload_settings,
    packages_of,
)
from lsa_whisper.finetuning.memory.estimate import configurations_for, estimate_memory, estimate_run
from lsa_whisper.finetuning.memory.plan import Hardware, Plan
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch
from lsa_whisper.system.machine import GIB, available_memory_gib, nearest_existing

__all__ = ["Hardware", "Resources", "estimate_memory", "estimate_run", "require_fit"]


_LETTERS_PER_TOKEN = 2
"""A conservative value: English takes about four letters per token."""


@dataclass(frozen=True)
class Resources:
    """The hardware of a run, its number of processes, and how many of them run on this machine."""

    hardware: Hardware
    processes: int = 1
    local_processes: int = 1

    @classmethod
    def of_this_machine(cls, recipe: Recipe) -> Resources:
        """Return what is free now for a run of ``recipe``; this process's GPU is taken as typical.

        Only the first process of each machine checks host memory and disk: when the others check, it may already be
        loading the model.
        """
        import torch

        processes = ranks_of_run()
        local_processes = int(os.environ.get("LOCAL_WORLD_SIZE", str(processes)))
        own_rank = local_rank()
        host_gib = available_memory_gib() if own_rank == 0 else None
        out, swap = Path(recipe.out), recipe.offload.nvme_path
        disk_gib = shutil.disk_usage(nearest_existing(out)).free / GIB if own_rank == 0 else None
        disks = [nearest_existing(path).stat().st_dev for path in (out, Path(swap or out))]
        swap_elsewhere = disks[0] != disks[1]
        if recipe.training.use_cpu or not torch.cuda.is_available():
            return cls(Hardware(0, 0.0, host_gib, disk_gib, swap_elsewhere), processes, local_processes)
        free, _ = torch.cuda.mem_get_info(own_rank)
        # Every plan counts the CUDA context that this query has created.
        return cls(Hardware(processes, free / GIB, host_gib, disk_gib, swap_elsewhere), processes, local_processes)


def require_fit(recipe: Recipe, resources: Resources) -> Plan | None:
    """Return the plan of ``recipe``, ``None`` if its model is neither on this machine nor of a known size.

    Raises:
        RecipeError: If it does not fit; the message names the nearest plan that does.
    """
    share = resources.local_processes / resources.processes
    hardware = resources.hardware
    whole = dataclasses.replace(hardware, host_gib=hardware.host_gib / share if hardware.host_gib is not None else None)
    tokens = label_tokens(recipe)

    def estimate(variant: Recipe) -> Plan:
        return estimate_run(variant, whole, processes=resources.processes, label_tokens=tokens)

    try:
        plan = estimate(recipe)
    except CheckpointError:
        return None
    if plan.fits:
        return plan
    raise RecipeError(f"{_shortage(plan)}; {_remedy(plan, nearest_fit(plan, recipe, estimate))}; --force trains anyway")


def label_tokens(recipe: Recipe) -> int:
    """Return an upper estimate of the tokens in the longest training label; 448 if the manifest cannot be read."""
    try:
        texts = (segment.text for segment in manifest.stream(Path(recipe.data.train)))
        longest = max(map(len, texts), default=0)
    except Exception:  # the dataset reports an unreadable manifest
        return DECODER_POSITIONS
    return longest // _LETTERS_PER_TOKEN + 8


def _shortage(plan: Plan) -> str:
    hardware = plan.job.hardware
    needs = {
        "GPU": f"{plan.gpu_gib:.1f} GiB on the GPU ({hardware.gpu_gib:.1f} free)",
        "host": f"{plan.host_gib:.1f} GiB of host memory ({hardware.host_gib or 0:.1f} free)",
        "disk": f"{plan.disk_gib:.1f} GiB on the output folder's disk ({hardware.disk_gib or 0:.1f} free)",
    }
    return f"{plan.name}, batch {plan.micro_batch.batch} needs about " + " and ".join(
        needs[name] for name in plan.exceeded
    )


def _remedy(short: Plan, fit: tuple[Plan, list[str]] | None) -> str:
    if fit is None:
        on_disk = "free space there, or choose another folder with -o"
        in_memory = "choose a smaller model, or free memory that other programs use"
        return f"no other plan fits; {on_disk if short.exceeded == ('disk',) else in_memory}"
    plan, overrides = fit
    words = " ".join(f"--set {override}" for override in overrides)
    return f"nearest that fits: {plan.name}, batch {plan.micro_batch.batch}: {words}"


_UNSHARDED_ONLY = ("pure-bf16", "fp8")
"""Precisions that DeepSpeed and FSDP do not support; the nearest that they do is bf16."""


def nearest_fit(plan: Plan, recipe: Recipe, estimate: Callable[[Recipe], Plan]) -> tuple[Plan, list[str]] | None:
    """Return the nearest plan that fits, with the overrides that ``recipe`` needs for it; ``None`` if none fits.

    The recipe with these overrides has been validated and estimated. ``estimate`` returns the plan of a recipe on the
    same machine.
    """
    for alternative, precision in alternatives(plan, recipe):
        if not alternative.fits:
            continue
        overrides = list(_differences(recipe, plan, alternative, precision))
        try:
            again = estimate(recipes.with_overrides(recipe, overrides))
        except RecipeError:
            continue
        if again.fits:
            return again, overrides
    return None


def alternatives(plan: Plan, recipe: Recipe) -> Iterator[tuple[Plan, str | None]]:
    """Yield other plans, the nearest first: gradient checkpointing, smaller batches, other strategies, a LoRA.

    Each comes with the precision that the recipe must change to, ``None`` where it keeps its own.
    """
    job, micro_batch = plan.job, plan.micro_batch
    again = dataclasses.replace(micro_batch, checkpointing=True)
    for same in (again, *smaller_micro_batches(again)):
        yield job.plan(plan.configuration, same), None
    packages = set(packages_of(plan.configuration))
    precisions: list[tuple[str, str | None]] = [(plan.configuration.precision, None)]
    precisions += [("bf16", "bf16")] if recipe.precision in _UNSHARDED_ONLY else []
    for precision, change in precisions:
        configurations = configurations_for(job.hardware, recipe, processes=job.processes)
        for configuration in _with_precision(precision, configurations):
            if job.supports(configuration) and set(missing_packages(configuration)) <= packages:
                for same in (again, *smaller_micro_batches(again)):
                    yield job.plan(configuration, same), change


def _with_precision(precision: str, configurations: Iterable[TrainingConfiguration]) -> Iterator[TrainingConfiguration]:
    """Yield each configuration once with the given precision; those that differ in precision only are left out."""
    yield from dict.fromkeys(
        dataclasses.replace(configuration, precision=precision)
        for configuration in configurations
        if configuration.precision in ("bf16", precision)
    )


def smaller_micro_batches(micro_batch: MicroBatch) -> Iterator[MicroBatch]:
    """Yield smaller micro-batches that divide the batch evenly, for gradient accumulation: 12, 6, 3, 1.

    >>> [smaller.batch for smaller in smaller_micro_batches(MicroBatch(batch=12))]
    [6, 3, 1]
    """
    while micro_batch.batch > 1:
        divisor = next(number for number in range(2, micro_batch.batch + 1) if micro_batch.batch % number == 0)
        micro_batch = dataclasses.replace(micro_batch, batch=micro_batch.batch // divisor, accumulates=True)
        yield micro_batch


def _differences(recipe: Recipe, plan: Plan, alternative: Plan, precision: str | None) -> Iterator[str]:
    """Yield an override ``section.key=value`` for each setting in which ``alternative`` differs from ``recipe``."""
    configuration = alternative.configuration
    yield from strategy_of(configuration).changed_from(strategy_of(plan.configuration), recipe)
    offload = offload_settings(configuration)
    for name in ("optimizer", "parameters", "nvme_path"):
        place = getattr(offload, name)
        if place != getattr(recipe.offload, name) and place is not None:
            yield f"offload.{name}={place}"
    if precision:
        yield f"precision={precision}"
    if configuration.optimizer != configuration_of(recipe).optimizer:
        yield f"optimizer={configuration.optimizer}"
    if configuration.adapter and configuration.adapter != recipe.adapter:
        yield from (f"adapter.{key}={json.dumps(value)}" for key, value in adapter_keys(configuration.adapter).items())
    if alternative.micro_batch.batch != plan.micro_batch.batch:
        whole = plan.micro_batch.batch * recipe.training.gradient_accumulation_steps
        yield f"training.per_device_train_batch_size={alternative.micro_batch.batch}"
        yield f"training.gradient_accumulation_steps={-(-whole // alternative.micro_batch.batch)}"
    if alternative.micro_batch.checkpointing and not plan.micro_batch.checkpointing:
        yield "training.gradient_checkpointing=true"
