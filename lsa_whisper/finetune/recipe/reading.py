"""A recipe from YAML and overrides, every problem reported at once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper import plain_yaml
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.recipe.fields import build, set_path
from lsa_whisper.finetune.recipe.schema import Recipe
from lsa_whisper.finetune.recipe.validation import problems_of


def parse(text: str, *, set: Sequence[str] = (), path: str = "recipe") -> Recipe:
    """Return the recipe in ``text`` (YAML), with ``section.key=value`` overrides applied.

    >>> parse("{data: {train: t.jsonl}, out: runs/a, model: {base: m}}", set=["seed=3"]).seed
    3
    >>> parse("{data: {trian: t.jsonl}, out: runs/a, model: {base: m}}")
    Traceback (most recent call last):
    ...
    lsa_whisper.errors.RecipeError: recipe: data.trian: unknown key (did you mean 'train'?); data.train: missing

    Raises:
        RecipeError: With every problem found.
    """
    try:
        raw = plain_yaml.parse(text) or {}
    except yaml.YAMLError as error:
        raise RecipeError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    return _built(raw, set, path)


def changed(recipe: Recipe, set: Sequence[str]) -> Recipe:
    """Return ``recipe`` as ``section.key=value`` overrides on its command line would make it.

    Raises:
        RecipeError: With every problem found.
    """
    return _built(json.loads(json.dumps(dataclasses.asdict(recipe))), set, "recipe")


def quoted(path: str | Path) -> str:
    """Return a path as an override must say it: YAML would read a number, or a comment, in many a name.

    >>> parse("{data: {train: t}, out: o, model: {base: m}}", set=[f"out={quoted('study #2/2024')}"]).out
    'study #2/2024'
    """
    return json.dumps(str(path), ensure_ascii=False)


def _built(raw: dict[str, Any], set: Sequence[str], path: str) -> Recipe:
    problems: list[str] = []
    for override in set:
        set_path(raw, override, problems)
    recipe = build(Recipe, raw, "", problems)
    if recipe is not None:
        problems += problems_of(recipe)
    if problems or recipe is None:
        raise RecipeError(f"{path}: {' '.join('; '.join(problems).split())}")  # a key may hold a line end
    return recipe


def read(path: Path, *, set: Sequence[str] = ()) -> Recipe:
    """Return the recipe in the file ``path``; see :func:`parse`."""
    try:
        text = plain_yaml.read(path)
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read ({error.strerror}); recipes that ship are in recipes/") from None
    except yaml.YAMLError as error:
        raise RecipeError(f"{path}: not YAML: {error}") from None
    return parse(text, set=set, path=str(path))
