"""Recipes read from YAML with overrides applied; every problem is reported at once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper import plain_yaml
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.recipe.fields import apply_override, build_section
from lsa_whisper.finetune.recipe.schema import Recipe
from lsa_whisper.finetune.recipe.validation import problems_of


def parse_recipe(text: str, *, set: Sequence[str] = (), path: str = "recipe") -> Recipe:
    """Return the recipe in a YAML text, with ``section.key=value`` overrides applied.

    >>> parse_recipe("{data: {train: t.jsonl}, out: runs/a, model: {base: m}}", set=["seed=3"]).seed
    3
    >>> parse_recipe("{data: {trian: t.jsonl}, out: runs/a, model: {base: m}}")
    Traceback (most recent call last):
    ...
    lsa_whisper.errors.RecipeError: recipe: data.trian: unknown key (did you mean 'train'?); data.train: missing

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
        raise RecipeError(f"{path}: not YAML: {error}") from None
    return parse_recipe(text, set=set, path=str(path))


def with_overrides(recipe: Recipe, set: Sequence[str]) -> Recipe:
    """Return ``recipe`` with ``section.key=value`` overrides applied.

    Raises:
        RecipeError: With every problem found.
    """
    return _build(json.loads(json.dumps(dataclasses.asdict(recipe))), set, "recipe")


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
    recipe = build_section(Recipe, raw, "", problems)
    if recipe is not None:
        problems += problems_of(recipe)
    if problems or recipe is None:
        raise RecipeError(f"{path}: {' '.join('; '.join(problems).split())}")  # a key may contain a line break
    return recipe
