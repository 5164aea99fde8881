"""Checkpoints to go on from: marked when they are whole, looked over before one is used."""

from __future__ import annotations

import dataclasses
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

from lsa_whisper import manifest, plain_json
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.library_internals import deepspeed_state_classes, rotate_checkpoints

MARK = "complete.json"
"""Written last: what a whole checkpoint's files are, and who can go on from them."""


def mark_whole(folder: Path, recipe: Recipe, processes: int, learned: Mapping[str, Any]) -> None:
    """Say that everything of this checkpoint is on disk; ``learned`` is the run's :func:`subject`."""
    said = {"state": _state(recipe), "processes": processes, **learned, "files": dict(_sizes(folder))}
    partial = folder / f".{MARK}"
    partial.write_text(json.dumps(said, indent=1), encoding="utf-8")
    partial.rename(folder / MARK)


def subject(recipe: Recipe) -> dict[str, Any]:
    """Return what is trained and on what: with another a run would go on as neither the old one nor a new one."""
    asked = {
        "model": dataclasses.asdict(recipe.model),
        "adapter": recipe.adapter and dataclasses.asdict(recipe.adapter),
    }
    return {**json.loads(json.dumps(asked)), "data": manifest.sha256(Path(recipe.data.train))}


def last_whole(run: Path, say: Callable[[str], None]) -> Path | None:
    """Return the newest checkpoint in a run's folder that is whole; those that are not are removed, and it is said."""
    for folder in sorted(run.glob("checkpoint-*"), key=_step, reverse=True):
        if folder.is_symlink():
            raise RecipeError(f"{folder}: is a link to somewhere else, and no checkpoint of this run; remove it")
        problem = broken(folder)
        if problem is None:
            return folder
        say(f"{folder}: not used, {problem}")
        shutil.rmtree(folder)
    return None


def broken(folder: Path) -> str | None:
    """Return what is wrong with a checkpoint, nothing when it is whole."""
    try:
        wanted = dict(plain_json.read(folder / MARK)["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return "the run was stopped while it was being written"
    found = dict(_sizes(folder))
    for name, size in wanted.items():
        if name not in found:
            return f"{name} is missing"
        if found[name] != size:
            return f"{name} has {found[name]} bytes instead of {size}"
    return None


def check_fits(folder: Path, recipe: Recipe, processes: int, learned: Mapping[str, Any]) -> None:
    """Return when a run of so many processes, and of the subject ``learned``, can go on from a whole checkpoint.

    Raises:
        RecipeError: If it was saved under another strategy, by another number of processes where each holds a part of
            its own, with its optimizer on NVMe, or in training something else or on other data.
    """
    said = plain_json.read(folder / MARK)
    anew = f"or remove {folder.parent} to begin anew"
    if said["state"] != _state(recipe):
        raise RecipeError(f"{folder}: saved under {said['state']}, not {_state(recipe)}; go on with that, {anew}")
    for part in ("model", "adapter"):
        before, now = (dict(one.get(part) or {}) for one in (said, learned))
        if part in said and before != now:
            key = next(key for key in {**before, **now} if before.get(key) != now.get(key))
            raise RecipeError(
                f"{folder}: saved with {part}.{key} {before.get(key)!r}, not {now.get(key)!r}; go on with that, {anew}"
            )
    if said.get("data", learned["data"]) != learned["data"]:
        raise RecipeError(
            f"{folder}: saved in training on other data than {recipe.data.train} holds now; go on with those, {anew}"
        )
    if recipe.strategy in ("zero2", "zero3") and said["processes"] != processes:
        raise RecipeError(
            f"{folder}: saved by {said['processes']} processes, each with its own part of the optimizer, and this run "
            f"has {processes}; go on with --processes {said['processes']}, {anew}"
        )
    if not can_go_on(recipe):
        raise RecipeError(
            f"{folder}: DeepSpeed does not put back what it had moved to NVMe, so the run would go on as if it had "
            f"forgotten its last steps; put offload on cpu in runs that may be stopped, and remove {folder.parent}"
        )


@contextmanager
def tensors_alone(folder: Path | None) -> Iterator[None]:
    """Let nothing but tensors and numbers be read while a run goes on from ``folder``.

    The states of an optimizer are pickled, and a pickle can run code. transformers reads them so anyhow; DeepSpeed
    would read whatever there is, so torch is told not to.

    Raises:
        RecipeError: A state holds something else.
    """
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
    try:
        with torch.serialization.safe_globals(deepspeed_state_classes()):
            yield
    except pickle.UnpicklingError as error:
        raise RecipeError(
            f"{folder}: holds more than the numbers of a training, and could run code; remove it, or go on from a run "
            "of your own"
        ) from error


def can_go_on(recipe: Recipe) -> bool:
    """Tell whether a stopped run of this recipe can go on; see :func:`check_fits`."""
    return "nvme" not in (recipe.offload.optimizer, recipe.offload.parameters)


def _state(recipe: Recipe) -> str:
    """Return what kind of state the strategy keeps: one process and many with whole copies keep the same."""
    if recipe.strategy in ("single", "ddp") or recipe.fsdp.sharding_strategy == "no_shard":
        return "single or ddp"
    return recipe.strategy


def _sizes(folder: Path) -> Iterator[tuple[str, int]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.name not in (MARK, f".{MARK}"):
            yield file.relative_to(folder).as_posix(), file.stat().st_size


def _step(folder: Path) -> int:
    found = re.search(r"\d+$", folder.name)
    return int(found.group()) if found else -1


def drop_older(run: Path, keep: int | None, best: Any) -> None:
    """Remove all but the newest ``keep`` checkpoints, but not the best one; ``None`` keeps all."""
    rotate_checkpoints(str(run), keep=keep, best=best)
