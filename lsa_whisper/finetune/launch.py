"""Several processes for one run: started here, or found in the environment of torchrun, accelerate or SLURM."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lsa_whisper.errors import RecipeError


def rank() -> int:
    """Return this process's number among all that train together; 0 when it is alone."""
    return int(os.environ.get("RANK", "0"))


def is_launched() -> bool:
    """Tell whether a launcher started this process as one of several."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def sharing_cores(processes: int) -> dict[str, str]:
    """Return the environment in which each of so many processes takes its share of the cores, if not told otherwise."""
    return {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // processes))} | os.environ


def launch(recipe: Path, *, set: Sequence[str], processes: int) -> None:
    """Run the recipe in ``processes`` local processes and wait for them.

    Raises:
        RecipeError: If a process failed; its own message is above on standard error.
    """
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command += ["-m", "lsa_whisper", "finetune", str(recipe)]
    command += [part for override in set for part in ("--set", override)]
    if subprocess.run(command, env=sharing_cores(processes), stdout=subprocess.DEVNULL, check=False).returncode:
        raise RecipeError(f"{recipe}: one of {processes} processes failed; its message is above")
