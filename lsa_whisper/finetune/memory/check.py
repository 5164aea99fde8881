"""Before a run: does the recipe fit this machine, and if not, what is nearest to it that does?"""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import manifest
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetune.memory.activations import Load
from lsa_whisper.finetune.memory.estimate import estimate_run, ways_on
from lsa_whisper.finetune.memory.plan import Limits, Plan
from lsa_whisper.finetune.memory.way import Way
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.machine import GIB, available_memory_gib

_LETTERS_PER_TOKEN = 2
"""Whisper's vocabulary spends one token on about four letters of English; half as many is the careful side."""


@dataclass(frozen=True)
class Resources:
    """What the processes of a run find: limits of all, how many train, and how many of them on this machine."""

    limits: Limits
    processes: int = 1
    here: int = 1

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
        disk_gib = shutil.disk_usage(_existing(Path(recipe.out))).free / GIB if place == 0 else None
        if recipe.training.get("use_cpu") or not torch.cuda.is_available():
            return cls(Limits(0, 0.0, host_gib, disk_gib), processes, here)
        free, _ = torch.cuda.mem_get_info(place)
        # The context that asking has made is counted in every plan, too.
        return cls(Limits(processes, free / GIB, host_gib, disk_gib), processes, here)


def require_fit(recipe: Recipe, resources: Resources) -> Plan | None:
    """Return the plan of ``recipe``, ``None`` when its model is not on this machine yet and of no known size.

    Raises:
        RecipeError: If it does not fit; the sentence names the nearest plan that does.
    """
    share = resources.here / resources.processes
    limits = resources.limits
    whole = dataclasses.replace(limits, host_gib=limits.host_gib / share if limits.host_gib is not None else None)
    try:
        plan = estimate_run(recipe, whole, processes=resources.processes, label_tokens=label_tokens(recipe))
    except CheckpointError:
        return None
    if plan.fits:
        return plan
    nearest = next((other for other in alternatives(plan, recipe) if other.fits), None)
    raise RecipeError(f"{_wanting(plan)}; {_remedy(nearest, plan, recipe)}; --force trains all the same")


def alternatives(plan: Plan, recipe: Recipe) -> Iterator[Plan]:
    """Yield other plans, the nearest first: layers computed again, smaller batches, other ways, a LoRA."""
    job, load = plan.job, plan.load
    again = dataclasses.replace(load, checkpointing=True)
    yield job.plan(plan.way, again)
    for smaller in smaller_batches(again):
        yield job.plan(plan.way, smaller)
    for way in _with_precision(plan.way.precision, ways_on(job.limits, recipe)):
        if job.can(way):
            for same in (again, *smaller_batches(again)):
                yield job.plan(way, same)


def _with_precision(precision: str, ways: Iterable[Way]) -> Iterator[Way]:
    """Yield each way once in the recipe's own precision, but for those that are about precision."""
    yield from dict.fromkeys(
        dataclasses.replace(way, precision=precision) for way in ways if way.precision in ("bf16", precision)
    )


def smaller_batches(load: Load) -> Iterator[Load]:
    """Yield loads of fewer windows that make up the same batch when gradients are accumulated: 12, 6, 3, 1.

    >>> [smaller.batch for smaller in smaller_batches(Load(batch=12))]
    [6, 3, 1]
    """
    while load.batch > 1:
        divisor = next(number for number in range(2, load.batch + 1) if load.batch % number == 0)
        load = dataclasses.replace(load, batch=load.batch // divisor, accumulates=True)
        yield load


def label_tokens(recipe: Recipe) -> int:
    """Return about how many tokens the longest training label has, on the careful side; 448 when it cannot be read."""
    try:
        texts = (segment.text for segment in manifest.stream(Path(recipe.data.train)))
        longest = max(map(len, texts), default=0)
    except Exception:  # an unreadable manifest is the dataset's to report, with its own sentence
        return 448
    return longest // _LETTERS_PER_TOKEN + 8


def _existing(path: Path) -> Path:
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())


def _wanting(plan: Plan) -> str:
    limits = plan.job.limits
    needs = {
        "GPU": f"{plan.gpu_gib:.1f} GiB on the GPU, which has {limits.gpu_gib:.1f} free",
        "host": f"{plan.host_gib:.1f} GiB of host memory, of which {limits.host_gib or 0:.1f} are free",
        "disk": f"{plan.disk_gib:.1f} GiB on the disk of its folder, which has {limits.disk_gib or 0:.1f} free",
    }
    return f"{plan.strategy}, batch {plan.load.batch} needs about " + " and ".join(needs[name] for name in plan.lacks)


def _remedy(nearest: Plan | None, plan: Plan, recipe: Recipe) -> str:
    if nearest is None:
        return "no other plan fits either: take a smaller model, or free what other programs hold"
    effective = None
    if nearest.load.batch < plan.load.batch:
        effective = plan.load.batch * int(recipe.training.get("gradient_accumulation_steps", 1))
    overrides = nearest.overrides(effective_batch=effective)
    return f"nearest that fits: {nearest.strategy}, batch {nearest.load.batch}: {overrides}"
