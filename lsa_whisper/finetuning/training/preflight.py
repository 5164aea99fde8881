"""Checks before training starts: memory, disk space, and what DeepSpeed needs on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.memory import gpu
from lsa_whisper.finetuning.memory.check import Resources, require_fit
from lsa_whisper.finetuning.memory.plan import Plan
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.system.machine import GIB, Finding


def preflight(recipe: Recipe, report: Callable[[str], None], resources: Resources | None = None) -> None:
    """Return if this machine can train ``recipe``; report what it will need.

    Args:
        recipe: The run to check.
        report: Receives the memory plan and warnings.
        resources: What is available; by default what this machine has.

    Raises:
        RecipeError: With every problem and its remedy, or if memory or disk space do not suffice.
    """
    plan = require_fit(recipe, resources or Resources.of_this_machine(recipe))
    rows = list(requirement_rows(recipe, plan))
    problems = [f"{row.name}: {row.found} ({row.remedy})" for row in rows if row.state == "problem"]
    if problems:
        raise RecipeError(f"{'; '.join(problems)}; --force trains anyway")
    for row in rows:
        if row.state == "warn":
            report(f"{row.name}: {row.found} ({row.remedy})")
    if plan is not None:
        where = f"{plan.gpu_gib:.1f} GiB on each GPU, " if plan.job.hardware.gpus else ""
        report(f"{plan.name}, batch {plan.micro_batch.batch}: about {where}{plan.host_gib:.1f} GiB of host memory")


def requirement_rows(recipe: Recipe, plan: Plan | None) -> Iterator[Finding]:
    """Return the state of everything that a recipe needs besides memory."""
    swap_gib = gpu.swap_bytes(plan.counts, plan.configuration) / GIB if plan else None
    return strategy_of(recipe).machine_findings(recipe, swap_gib)
