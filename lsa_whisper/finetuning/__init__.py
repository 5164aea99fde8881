"""Fine-tuning of Whisper, defined by a recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.distributed.launch import launch
from lsa_whisper.finetuning.distributed.ranks import is_launched, join_slurm_step
from lsa_whisper.finetuning.memory import estimate_memory
from lsa_whisper.finetuning.strategies import check_processes
from lsa_whisper.finetuning.training import Finetuned
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

__all__ = ["Finetuned", "estimate_memory", "finetune"]


@private_umask()
def finetune(
    recipe: Path,
    *,
    set: Sequence[str] | str = (),
    out: Path | None = None,
    processes: int = 1,
    force: bool = False,
    report: Callable[[str], None] | None = None,
) -> Finetuned:
    """Train by a recipe and return the finished checkpoint's folder.

    Called again, an interrupted run resumes from its last checkpoint; a finished run is not repeated. Further arguments
    are those of :func:`lsa_whisper.finetuning.from_corpus.finetune`.

    Raises:
        RecipeError: If the recipe has problems, does not fit this machine, or runs out of memory.
        ManifestError: If the prepared data do not fit the model.
        CheckpointError: If the model to start from cannot be loaded.
    """
    overrides = [set] if isinstance(set, str) else [*set]
    overrides += [f"out={recipes.quote_override(out)}"] if out is not None else []
    settings = recipes.read_recipe(Path(recipe), set=overrides)
    join_slurm_step()
    check_processes(settings, processes)
    report = report or print_progress
    from lsa_whisper.finetuning.training.precision import with_precision

    settings = with_precision(settings)
    if launched := processes > 1 and not is_launched():
        from lsa_whisper.finetuning.training.requirements import check_requirements

        check_requirements(settings, str(recipe))
        launch(Path(recipe), set=overrides, processes=processes, out=Path(settings.out), force=force)
    from lsa_whisper.finetuning.training.environment import keep_library_messages

    target = Path(settings.out)
    with keep_library_messages(target, target.with_name(f"{target.name}.unfinished")):
        from lsa_whisper.finetuning.training.run import report_nothing, run_training

        # Ranks that were launched here have reported already; what they trained is only read.
        return run_training(settings, report_nothing if launched else report, force=force, name=str(recipe))
