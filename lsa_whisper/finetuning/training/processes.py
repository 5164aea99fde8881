"""Whether the processes of a run can train its recipe."""

from __future__ import annotations

import os

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import is_launched, verify_ranks
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.system.machine import usable_cores

_MIN_PROCESSES = 16
"""So many processes are accepted on any machine: no node has more GPUs."""


def check_processes(recipe: Recipe, processes: int) -> None:
    """Check that ``processes`` on this machine, or the ranks that a launcher started, can train ``recipe``.

    Raises:
        RecipeError: If they cannot.
    """
    if processes < 1:
        raise RecipeError(f"--processes: 1 or more, not {processes}")
    if (most := max(_MIN_PROCESSES, usable_cores())) < processes:
        raise RecipeError(f"--processes: {processes} processes on this machine, at most {most}; use fewer")
    verify_ranks(os.environ)
    ranks = int(os.environ["WORLD_SIZE"]) if is_launched() else processes
    if recipe.auto_micro_batch and ranks > 1:
        raise RecipeError("auto_micro_batch: one rank cannot restart alone; remove the setting, or use --processes 1")
    strategy_of(recipe).check_ranks(recipe, ranks)
    if processes == 1 or is_launched() or recipe.training.use_cpu:
        return
    import torch

    if 0 < (gpus := torch.cuda.device_count()) < processes:
        raise RecipeError(
            f"--processes {processes}: each process needs a GPU, and there are {gpus}; use --processes {gpus}"
        )
