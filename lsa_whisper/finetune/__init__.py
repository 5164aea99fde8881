"""Fine-tune Whisper by a recipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.finetune import recipe as recipes
from lsa_whisper.finetune.distributed.launch import check_processes, launch
from lsa_whisper.finetune.distributed.ranks import is_launched, join_slurm_step
from lsa_whisper.finetune.memory import estimate_memory
from lsa_whisper.umask import private_umask

__all__ = ["Finetuned", "estimate_memory", "finetune"]


@dataclass(frozen=True)
class Finetuned:
    """What a run left: the checkpoint's folder, its optimiser steps and its last logged loss."""

    out: Path
    steps: int
    loss: float | None


@private_umask()
def finetune(
    recipe: Path,
    *,
    set: Sequence[str] = (),
    out: Path | None = None,
    processes: int = 1,
    force: bool = False,
    say: Callable[[str], None] | None = None,
) -> Finetuned:
    """Train as ``recipe`` says and return where the checkpoint is.

    A run that was interrupted goes on from its last saved step when called again; a finished one is left alone.

    Args:
        recipe: A YAML file; see ``recipes/``.
        set: Overrides such as ``training.learning_rate=1e-5``.
        out: The checkpoint's folder instead of the recipe's ``out``.
        processes: How many processes of this machine train together (one per GPU); under torchrun, accelerate or SLURM
            leave it at 1, the ranks are found in the environment.
        force: Train although the memory planned for the run, or something else that it needs, is not there.
        say: Receives progress lines; by default they go to standard error.

    Raises:
        RecipeError: If the recipe has problems, does not fit this machine, or runs out of memory.
        ManifestError: If the prepared data do not fit the model.
        CheckpointError: If the model to start from cannot be loaded.
    """
    overrides = [*set, f"out={recipes.quote_override(out)}"] if out is not None else list(set)
    wanted = recipes.read_recipe(Path(recipe), set=overrides)
    join_slurm_step()
    check_processes(wanted, processes)
    if processes > 1 and not is_launched():
        launch(Path(recipe), set=overrides, processes=processes, out=Path(wanted.out), force=force)
    from lsa_whisper.finetune.training.run import run

    return run(wanted, say or _to_stderr, force=force)


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
