"""Before a run: does the recipe fit this machine, and if not, what is nearest to it that does?"""

from __future__ import annotations

import dataclasses
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import manifest
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetune.memory.alternatives import remedy
from lsa_whisper.finetune.memory.estimate import estimate_run
from lsa_whisper.finetune.memory.plan import Hardware, Plan
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.machine import GIB, available_memory_gib, nearest_existing
from lsa_whisper.whisper_constants import DECODER_POSITIONS

_LETTERS_PER_TOKEN = 2
"""Whisper's vocabulary spends one token on about four letters of English; half as many is the careful side."""


@dataclass(frozen=True)
class Resources:
    """What the processes of a run find: hardware of all, how many train, and how many of them on this machine."""

    hardware: Hardware
    processes: int = 1
    local_processes: int = 1

    @classmethod
    def of_this_machine(cls, recipe: Recipe) -> Resources:
        """Return what is free now for a run of ``recipe``; this process's GPU stands for all.

        Host and disk are for the first process of each machine to look at: when the others look, it may be loading.
        """
        import torch

        processes = int(os.environ.get("WORLD_SIZE", "1"))
        here = int(os.environ.get("LOCAL_WORLD_SIZE", str(processes)))
        place = int(os.environ.get("LOCAL_RANK", "0"))
        host_gib = available_memory_gib() if place == 0 else None
        out, swap = Path(recipe.out), recipe.offload.nvme_path
        disk_gib = shutil.disk_usage(nearest_existing(out)).free / GIB if place == 0 else None
        apart = swap is not None and not _on_one_disk(out, Path(swap))
        if recipe.training.get("use_cpu") or not torch.cuda.is_available():
            return cls(Hardware(0, 0.0, host_gib, disk_gib, apart), processes, here)
        free, _ = torch.cuda.mem_get_info(place)
        # Every plan counts the CUDA context that this query has created.
        return cls(Hardware(processes, free / GIB, host_gib, disk_gib, apart), processes, here)


def require_fit(recipe: Recipe, resources: Resources) -> Plan | None:
    """Return the plan of ``recipe``, ``None`` when its model is not on this machine yet and of no known size.

    Raises:
        RecipeError: If it does not fit; the sentence names the nearest plan that does.
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
    raise RecipeError(f"{_wanting(plan)}; {_said(remedy(plan, recipe, estimate))}; --force trains all the same")


def label_tokens(recipe: Recipe) -> int:
    """Return about how many tokens the longest training label has, on the careful side; 448 when it cannot be read."""
    try:
        texts = (segment.text for segment in manifest.stream(Path(recipe.data.train)))
        longest = max(map(len, texts), default=0)
    except Exception:  # an unreadable manifest is the dataset's to report, with its own sentence
        return DECODER_POSITIONS
    return longest // _LETTERS_PER_TOKEN + 8


def _wanting(plan: Plan) -> str:
    hardware = plan.job.hardware
    needs = {
        "GPU": f"{plan.gpu_gib:.1f} GiB on the GPU, which has {hardware.gpu_gib:.1f} free",
        "host": f"{plan.host_gib:.1f} GiB of host memory, of which {hardware.host_gib or 0:.1f} are free",
        "disk": f"{plan.disk_gib:.1f} GiB on the disk of its folder, which has {hardware.disk_gib or 0:.1f} free",
    }
    return f"{plan.strategy}, batch {plan.micro_batch.batch} needs about " + " and ".join(
        needs[name] for name in plan.exceeded
    )


def _said(found: tuple[Plan, list[str]] | None) -> str:
    if found is None:
        return "no other plan fits either: take a smaller model, or free what other programs hold"
    plan, overrides = found
    words = " ".join(f"--set {override}" for override in overrides)
    return f"nearest that fits: {plan.strategy}, batch {plan.micro_batch.batch}: {words}"


def _on_one_disk(one: Path, other: Path) -> bool:
    return nearest_existing(one).stat().st_dev == nearest_existing(other).stat().st_dev
