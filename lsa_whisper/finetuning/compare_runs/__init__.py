"""Compare training runs: their curves, their best values and the differences between their recipes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lsa_whisper.errors import CorpusError
from lsa_whisper.finetuning.compare_runs.comparison import RunComparison
from lsa_whisper.finetuning.compare_runs.training_runs import read_run
from lsa_whisper.page.text import column_names
from lsa_whisper.system.umask import private_umask

__all__ = ["RunComparison", "compare_runs"]


@private_umask()
def compare_runs(runs: Sequence[Path], *, out: Path | None = None, names: Sequence[str] = ()) -> RunComparison:
    """Return training runs side by side: steps, the best value of each curve, differences between recipes.

    Args:
        runs: folders that ``finetune`` wrote; a run in progress is read as far as it has logged.
        out: a folder for ``report.html`` and ``report.json``; made if it does not exist.
        names: one name per run; the folder names if left out.

    Raises:
        CorpusError: no run was given, a folder does not exist or has no ``curve.jsonl``, or the names do not fit.
    """
    folders = [Path(run) for run in runs]
    if not folders:
        raise CorpusError("compare-runs needs at least one training run: give a folder that finetune wrote")
    called = column_names(folders, names, noun="run", command="compare-runs")
    found = RunComparison(tuple(read_run(folder, name) for folder, name in zip(folders, called, strict=True)))
    if out is None:
        return found
    from lsa_whisper.finetuning.compare_runs.report import write_comparison

    return replace(found, report=write_comparison(found, Path(out)))
