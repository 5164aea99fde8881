"""What is looked at before a run that may take days: memory, disk, and what DeepSpeed needs of the machine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from lsa_whisper import machine
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.memory import gpu
from lsa_whisper.finetune.memory.check import Resources, require_fit
from lsa_whisper.finetune.memory.configuration import DEEPSPEED
from lsa_whisper.finetune.memory.plan import Plan
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.machine import GIB, Row


def preflight(recipe: Recipe, say: Callable[[str], None], resources: Resources | None = None) -> None:
    """Return when nothing stands against training by ``recipe``; say what it will need.

    Args:
        recipe: What is to be trained.
        say: Receives the plan and what is only doubtful.
        resources: What there is; this machine's when not given.

    Raises:
        RecipeError: With every obstacle and its remedy, or when memory or disk do not suffice.
    """
    plan = require_fit(recipe, resources or Resources.of_this_machine(recipe))
    rows = list(obstacles(recipe, plan))
    problems = [f"{row.name}: {row.found} ({row.remedy})" for row in rows if row.state == "problem"]
    if problems:
        raise RecipeError(f"{'; '.join(problems)}; --force trains anyway")
    for row in rows:
        if row.state == "warn":
            say(f"{row.name}: {row.found} ({row.remedy})")
    if plan is not None:
        where = f"{plan.gpu_gib:.1f} GiB on each GPU, " if plan.job.hardware.gpus else ""
        say(f"{plan.name}, batch {plan.micro_batch.batch}: about {where}{plan.host_gib:.1f} GiB of host memory")


def obstacles(recipe: Recipe, plan: Plan | None) -> Iterator[Row]:
    """Yield what was found of all that a recipe needs beside memory."""
    if recipe.strategy not in DEEPSPEED:
        return
    yield from machine.stale_locks(machine.extension_caches()[:1])  # where this run will compile
    yield from (row for row in machine.programs() if row.name != "ffmpeg")
    if "nvme" not in (recipe.offload.optimizer, recipe.offload.parameters):
        return
    yield from machine.libaio(needed=True)
    folder = Path(str(recipe.offload.nvme_path))
    with contextlib.suppress(OSError):  # the test of writing says why
        folder.mkdir(parents=True, exist_ok=True)
    needed = gpu.swap_bytes(plan.counts, plan.configuration) / GIB if plan else None
    yield from machine.disk(folder, name="swap folder", needed_gib=needed)
