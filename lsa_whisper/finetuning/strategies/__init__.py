"""The strategies: how training is laid out over processes, one file each.

>>> names_of(lambda strategy: strategy.uses_deepspeed)
['zero2', 'zero3']
"""

from __future__ import annotations

import os
from collections.abc import Callable

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import is_launched, verify_ranks
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import Strategy
from lsa_whisper.finetuning.strategies.ddp import Ddp
from lsa_whisper.finetuning.strategies.fsdp2 import Fsdp2
from lsa_whisper.finetuning.strategies.pipeline import PipelineParallel
from lsa_whisper.finetuning.strategies.single import Single
from lsa_whisper.finetuning.strategies.tensor_parallel import TensorParallel
from lsa_whisper.finetuning.strategies.zero2 import Zero2
from lsa_whisper.finetuning.strategies.zero3 import Zero3
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.system.machine import usable_cores

_ROWS = (Single(), Ddp(), Zero2(), Zero3(), Fsdp2(), TensorParallel(), PipelineParallel())
STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in _ROWS}
"""Every strategy by its name; messages list them in this order."""
_MIN_PROCESSES = 16
"""So many processes are accepted on any machine: no node has more GPUs."""


def strategy_of(run: RunSettings | TrainingConfiguration) -> Strategy:
    """Return the strategy that a recipe or a training configuration names."""
    return STRATEGIES[run.strategy]


def names_of(suits: Callable[[Strategy], bool]) -> list[str]:
    """Return the names of the strategies that suit."""
    return [name for name, strategy in STRATEGIES.items() if suits(strategy)]


def check_processes(recipe: RunSettings, processes: int) -> None:
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
