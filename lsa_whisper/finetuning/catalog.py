"""The shipped recipes by name: what each is for, what it needs, and its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.memory import Hardware, estimate_run
from lsa_whisper.finetuning.settings.values import did_you_mean
from lsa_whisper.system.shipped import recipes as shipped_recipes
from lsa_whisper.system.terminal import counted


@dataclass(frozen=True)
class CatalogEntry:
    """A shipped recipe.

    Attributes:
        name: What ``lsa-whisper finetune`` and ``lsa-whisper recipes show`` take.
        purpose: What it is for, one line.
        model: The base model.
        plan: Strategy, optimizer, adapter and precision, as ``estimate-memory`` names them.
        gpus: How many GPUs it is meant for; 0 if it trains on the processor.
        gpu_gib: Estimated peak memory of each GPU in GiB; 0 without one.
        host_gib: Estimated peak memory of the host in GiB.
    """

    name: str
    purpose: str
    model: str
    plan: str
    gpus: int
    gpu_gib: float
    host_gib: float


@dataclass(frozen=True)
class RecipeCatalog:
    """The result of :func:`list_recipes`."""

    entries: tuple[CatalogEntry, ...]

    def table(self) -> str:
        """Return the recipes as text, a paragraph for each."""
        return "\n".join(line for entry in self.entries for line in _lines(entry))


def list_recipes() -> RecipeCatalog:
    """Return the shipped recipes with the memory that the planner estimates for windows of 128 label tokens."""
    return RecipeCatalog(tuple(_entry(name, path) for name, path in shipped_recipes().items()))


def show_recipe(name: str) -> str:
    """Return the text of a shipped recipe, to be changed and saved under another name.

    >>> "model: {base: openai/whisper-large-v3}" in show_recipe("whisper-large-v3-lora")
    True

    Raises:
        RecipeError: If there is no such recipe.
    """
    return find_recipe(name).read_text("utf-8").rstrip("\n")


def find_recipe(name: str) -> Path:
    """Return the path of a shipped recipe.

    >>> find_recipe("whisper-large-v3-lra")
    Traceback (most recent call last):
    ...
    lsa_whisper.errors.RecipeError: whisper-large-v3-lra: no such recipe (did you mean 'whisper-large-v3-lora'?); ...

    Raises:
        RecipeError: If there is none of that name.
    """
    paths = shipped_recipes()
    if name in paths:
        return paths[name]
    raise RecipeError(
        f"{name}: no such recipe{did_you_mean(name, paths)}; 'lsa-whisper recipes' lists those that are shipped"
    )


def _entry(name: str, path: Path) -> CatalogEntry:
    text = path.read_text("utf-8")
    recipe = recipes.read_recipe(path)
    gpus = 0 if recipe.training.use_cpu else _gpus(text)
    try:
        plan = estimate_run(recipe, Hardware(gpus))
        needs = plan.name, plan.gpu_gib if gpus else 0.0, plan.host_gib
    except CheckpointError:  # a checkout without the model
        needs = recipe.strategy, 0.0, 0.0
    comment = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    purpose = re.search(r"For: (.+?)(?:[.:;](?:\s|$)|$)", comment)
    return CatalogEntry(name, purpose[1] if purpose else "", recipe.model.base or "", needs[0], gpus, *needs[1:])


def _gpus(text: str) -> int:
    number = re.search(r"Needs: (\d+) GPU", text)
    return int(number[1]) if number else 1


def _lines(entry: CatalogEntry) -> tuple[str, str, str]:
    gpu = f"{counted(entry.gpus, 'GPU')} with {entry.gpu_gib:.1f} GiB free" if entry.gpus else "no GPU"
    return (
        entry.name,
        f"    {entry.purpose}",
        f"    {entry.model}: {entry.plan}; {gpu}, {entry.host_gib:.1f} GiB of host memory",
    )
