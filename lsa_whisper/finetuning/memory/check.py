"""Whether a recipe fits this machine, and if not, the nearest plan that does."""

from __future__ import annotations

import dataclasses
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import manifest
from lsa_whisper.checkpoint.whisper_constants import DECODER_POSITIONS
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning.distributed.ranks import local_rank
from lsa_whisper.finetuning.memory.alternatives import nearest_fit
from lsa_whisper.finetuning.memory.estimate import estimate_run
from lsa_whisper.finetuning.memory.plan import Hardware, Plan
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.system.machine import GIB, available_memory_gib, nearest_existing

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

        processes = int(os.environ.get("WORLD_SIZE", "1"))
        local_processes = int(os.environ.get("LOCAL_WORLD_SIZE", str(processes)))
        own_rank = local_rank()
        host_gib = available_memory_gib() if own_rank == 0 else None
        out, swap = Path(recipe.out), recipe.offload.nvme_path
        disk_gib = shutil.disk_usage(nearest_existing(out)).free / GIB if own_rank == 0 else None
        swap_elsewhere = swap is not None and not _same_disk(out, Path(swap))
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

    def estimate(one: Recipe) -> Plan:
        return estimate_run(one, whole, processes=resources.processes, label_tokens=tokens)

    try:
        plan = estimate(recipe)
    except CheckpointError:
        return None
    if plan.fits:
        return plan
    raise RecipeError(f"{_shortage(plan)}; {_suggestion(nearest_fit(plan, recipe, estimate))}; --force trains anyway")


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


def _suggestion(found: tuple[Plan, list[str]] | None) -> str:
    if found is None:
        return "no other plan fits; choose a smaller model, or free memory that other programs use"
    plan, overrides = found
    words = " ".join(f"--set {override}" for override in overrides)
    return f"nearest that fits: {plan.name}, batch {plan.micro_batch.batch}: {words}"


def _same_disk(one: Path, other: Path) -> bool:
    return nearest_existing(one).stat().st_dev == nearest_existing(other).stat().st_dev
