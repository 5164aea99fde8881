"""Recipes read from YAML with overrides applied; every problem is reported at once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.recipe.fields import apply_override, read_fields
from lsa_whisper.finetuning.recipe.schema import DataSettings, ModelSettings, Recipe
from lsa_whisper.finetuning.recipe.validation import path_problem, problems_of
from lsa_whisper.system import plain_yaml


def parse_recipe(text: str, *, set: Sequence[str] = (), path: str = "recipe") -> Recipe:
    """Return the recipe in a YAML text, with ``section.key=value`` overrides applied.

    >>> parse_recipe("{data: {train: t.jsonl}, out: runs/a, model: {base: m}}", set=["seed=3"]).seed
    3
    >>> parse_recipe("{data: {trian: t.jsonl}, out: runs/a, model: {base: m}}")
    Traceback (most recent call last):
    ...
    lsa_whisper.errors.RecipeError: recipe: 2 problems
      data.trian: unknown key (did you mean 'train'?)
      data.train: missing

    Args:
        text: A recipe in YAML.
        set: Overrides.
        path: Where the text comes from, for messages.

    Raises:
        RecipeError: With every problem found.
    """
    try:
        raw = plain_yaml.parse(text) or {}
    except yaml.YAMLError as error:
        raise RecipeError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    return _build(raw, set, path)


def read_recipe(path: Path, *, set: Sequence[str] = ()) -> Recipe:
    """Return the recipe in a file; see :func:`parse_recipe`."""
    try:
        text = plain_yaml.read(path)
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read ({error.strerror}); recipes that ship are in recipes/") from None
    except yaml.YAMLError as error:
        raise RecipeError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    return parse_recipe(text, set=set, path=str(path))


def with_overrides(recipe: Recipe, set: Sequence[str]) -> Recipe:
    """Return ``recipe`` with ``section.key=value`` overrides applied.

    Raises:
        RecipeError: With every problem found.
    """
    return _build(json.loads(json.dumps(dataclasses.asdict(recipe))), set, "recipe")


def verify_overrides(set: Sequence[str]) -> None:
    """Return if each override has a known key and a value of its kind; what fits together is not checked.

    >>> verify_overrides(["training.learning_rate=fast"])
    Traceback (most recent call last):
    ...
    lsa_whisper.errors.RecipeError: override: training.learning_rate: expected a number, not 'fast'

    Raises:
        RecipeError: With every problem found.
    """
    raw: dict[str, Any] = {"data": {"train": "t"}, "out": "o", "model": {"base": "m"}}
    problems: list[str] = []
    for override in set:
        apply_override(raw, override, problems)
    read_fields(Recipe, raw, "", problems)
    if problems:
        raise RecipeError(list_problems("override", problems))


def quote_override(path: str | Path) -> str:
    """Return a path quoted for use in an override; unquoted, YAML may parse it as a number or a comment.

    >>> value = quote_override("study #2/2024")
    >>> parse_recipe("{data: {train: t}, out: o, model: {base: m}}", set=[f"out={value}"]).out
    'study #2/2024'
    """
    return json.dumps(str(path), ensure_ascii=False)


def _build(raw: dict[str, Any], overrides: Sequence[str], path: str) -> Recipe:
    problems: list[str] = []
    for override in overrides:
        apply_override(raw, override, problems)
    values, faulty = read_fields(Recipe, _with_manifests(raw), "", problems)
    required: dict[str, Any] = {"data": DataSettings("t"), "out": "o", "model": ModelSettings("m")}
    recipe = Recipe(**required | values)
    problems += problems_of(recipe, faulty)
    if problems:
        raise RecipeError(list_problems(path, problems))
    return recipe


def list_problems(path: str, problems: Sequence[str]) -> str:
    """Return the message for all problems of a recipe: one line, or a line for each.

    >>> print(list_problems("r.yaml", ["out: missing", "data: missing"]))
    r.yaml: 2 problems
      out: missing
      data: missing
    """
    lines = [" ".join(problem.split()) for problem in problems]  # a key may contain a line break
    return f"{path}: {lines[0]}" if len(lines) == 1 else "\n  ".join([f"{path}: {len(lines)} problems", *lines])


def _with_manifests(raw: Any) -> Any:
    """Return the recipe with the manifests of a folder that ``data`` names in place of one."""
    data = raw.get("data") if isinstance(raw, dict) else None
    if not isinstance(data, dict) or not isinstance(data.get("train"), str) or path_problem(data["train"]):
        return raw
    found, folder = dict(data), Path(data["train"])
    if (folder / "train.jsonl").is_file():
        found["train"] = str(folder / "train.jsonl")
        if raw.get("evaluation") is not None and not data.get("dev") and (folder / "dev.jsonl").is_file():
            found["dev"] = str(folder / "dev.jsonl")
    dev = data.get("dev")
    if isinstance(dev, str) and not path_problem(dev) and (Path(dev) / "dev.jsonl").is_file():
        found["dev"] = str(Path(dev) / "dev.jsonl")
    return raw | {"data": found}
