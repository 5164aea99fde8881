"""Checkpoints of an unfinished run: marked when complete, verified before a run resumes from one."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from lsa_whisper import manifest
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import ranks_of_run
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.recipe.schema import recipe_values
from lsa_whisper.finetuning.settings.values import HARMLESS, changes, describe_changes
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.system import plain_json
from lsa_whisper.system.deepspeed_internals import deepspeed_state_classes

MARK = "complete.json"
"""Written last: the sizes of a checkpoint's files, and what a run must match to resume from it."""


def run_identity(recipe: Recipe) -> dict[str, Any]:
    """Return what a run trains and on which data, for the marks of its checkpoints."""
    return {"recipe": recipe_values(recipe), "data": manifest.sha256(Path(recipe.data.train)), "changes": []}


def mark_complete(folder: Path, recipe: Recipe, processes: int, identity: Mapping[str, Any]) -> None:
    """Mark a checkpoint as completely on disk; ``identity`` is the run's :func:`run_identity`."""
    mark = {
        "state": strategy_of(recipe).state_kind(recipe),
        "processes": processes,
        "window_ranks": recipe.window_ranks(processes),
    }
    mark |= {**identity, "files": dict(_file_sizes(folder))}
    partial = folder / f".{MARK}"
    partial.write_text(json.dumps(mark, indent=1), encoding="utf-8")
    partial.rename(folder / MARK)


def last_complete_checkpoint(run: Path, report: Callable[[str], None]) -> Path | None:
    """Return the newest complete checkpoint in a run's folder; incomplete ones are reported and removed."""
    for folder in sorted(run.glob("checkpoint-*"), key=_step_of, reverse=True):
        if folder.is_symlink():
            raise RecipeError(f"{folder}: is a symbolic link, not a checkpoint of this run; remove it")
        problem = checkpoint_problem(folder)
        if problem is None:
            return folder
        report(f"{folder}: skipped, {problem}")
        shutil.rmtree(folder)
    return None


def verify_before_loading(run: Path, recipe: Recipe) -> None:
    """Return if the run in a folder, if there is one, is that of ``recipe``; nothing is changed.

    Raises:
        RecipeError: As :func:`verify_resumable`.
    """
    folders = (folder for folder in run.glob("checkpoint-*") if checkpoint_problem(folder) is None)
    if last := max(folders, key=_step_of, default=None):
        verify_resumable(last, recipe, ranks_of_run(), run_identity(recipe))


def checkpoint_problem(folder: Path) -> str | None:
    """Return why a checkpoint cannot be used, ``None`` if it is complete."""
    try:
        sizes = dict(plain_json.read(folder / MARK)["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return "the run was stopped while it was being written"
    actual = dict(_file_sizes(folder))
    for name, size in sizes.items():
        if name not in actual:
            return f"{name} is missing"
        if actual[name] != size:
            return f"{name} has {actual[name]} bytes instead of {size}"
    return None


def verify_resumable(folder: Path, recipe: Recipe, processes: int, identity: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the changes of the recipe during the run, if it can resume from a complete checkpoint.

    Each entry holds the step after which settings changed, and their former and present values. Only settings that do
    not change what is trained may have changed.

    Raises:
        RecipeError: If the checkpoint was saved under another strategy, by another number of processes that each hold a
            shard, with its optimizer on NVMe, by another recipe, or while training on other data.
    """
    mark = plain_json.read(folder / MARK)
    start_over = f"or remove {folder.parent} to start over"
    if not recipe.can_resume:
        raise RecipeError(
            f"{folder}: DeepSpeed does not restore optimizer state from NVMe, so that the resumed run would differ; "
            f"use offload to cpu for runs that may be stopped, and remove {folder.parent} to start over"
        )
    if mark["state"] != (state := strategy_of(recipe).state_kind(recipe)):
        raise RecipeError(f"{folder}: saved under {mark['state']}, not {state}; resume with that, {start_over}")
    before, now = mark.get("recipe"), identity["recipe"]
    if before and (differing := changes(before, now, besides=HARMLESS)):
        raise RecipeError(f"{folder}: saved with {describe_changes(differing)}; resume with that, {start_over}")
    if mark.get("data", identity["data"]) != identity["data"]:
        raise RecipeError(
            f"{folder}: saved while training on other data than {recipe.data.train} now contains; resume with those, "
            f"{start_over}"
        )
    if strategy_of(recipe).uses_deepspeed and mark["processes"] != processes:
        raise RecipeError(
            f"{folder}: saved by {mark['processes']} processes, each with its shard of the optimizer, but this run has "
            f"{processes}; resume with --processes {mark['processes']}, {start_over}"
        )
    ranks = mark.get("window_ranks", mark["processes"]), recipe.window_ranks(processes)
    if before and (problem := _other_batch(before["training"], now["training"], *ranks)):
        raise RecipeError(f"{folder}: {problem}, {start_over}")
    differences = changes(before, now) if before else {}
    step = {"step": _step_of(folder), "changed": {key: list(values) for key, values in differences.items()}}
    return [*mark.get("changes", []), *([step] if differences else [])]


def _other_batch(before: Mapping[str, Any], now: Mapping[str, Any], processes: int, processes_now: int) -> str | None:
    """Return how the number of windows in an optimizer step has changed, ``None`` if it has not."""

    def windows(training: Mapping[str, Any], ranks: int) -> int:
        per_rank = int(training["per_device_train_batch_size"]) * int(training["gradient_accumulation_steps"])
        return per_rank * ranks

    earlier, later = windows(before, processes), windows(now, processes_now)
    if earlier == later:
        return None
    return (
        f"saved with {earlier} windows in each optimizer step, not {later}; choose the micro-batch, the accumulation "
        f"steps and the number of processes so that their product is {earlier}"
    )


@contextmanager
def weights_only_loading(folder: Path | None) -> Iterator[None]:
    """Load only tensors and numbers in this block, while a run resumes from ``folder``.

    Optimizer states are pickled, and a pickle can run code. transformers restricts loading itself; DeepSpeed would load
    anything, so torch is set to refuse it.

    Raises:
        RecipeError: If a state contains anything else.
    """
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
    try:
        with torch.serialization.safe_globals(deepspeed_state_classes()):
            yield
    except pickle.UnpicklingError as error:
        raise RecipeError(
            f"{folder}: contains more than tensors and numbers, and could run code; remove it, or resume from a run of "
            "your own"
        ) from error


def _file_sizes(folder: Path) -> Iterator[tuple[str, int]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.name not in (MARK, f".{MARK}"):
            yield file.relative_to(folder).as_posix(), file.stat().st_size


def _step_of(folder: Path) -> int:
    number = re.search(r"\d+$", folder.name)
    return int(number.group()) if number else -1
