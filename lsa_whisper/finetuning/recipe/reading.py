"""Recipes read from YAML with overrides applied; every problem is reported at once.

Nested dataclasses are built by own code, because msgspec, OmegaConf and jsonargparse stop at the first problem.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml

from lsa_whisper.checkpoint.choice import resolve_model
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.recipe.schema import Recipe, recipe_values
from lsa_whisper.finetuning.recipe.trainer_args import place_of
from lsa_whisper.finetuning.recipe.validation import path_problem, problems_of
from lsa_whisper.finetuning.settings.run import DataSettings, ModelSettings
from lsa_whisper.finetuning.settings.values import TYPE_NAMES, OneOf, number_of, shorten, similar_name
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

    ``path`` says in messages where the text comes from.

    Raises:
        RecipeError: With every problem found.
    """
    try:
        raw = plain_yaml.parse(text) or {}
    except yaml.YAMLError as error:
        raise RecipeError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    for name in re.findall(r"^(adapter|evaluation):[ \t]*(?:#.*)?$", text, re.MULTILINE):  # not with null behind it
        if (
            isinstance(raw, dict)
            and raw.get(name, "") is None
            and not any(override.startswith(name) for override in set)
        ):
            raise RecipeError(f"{path}: {name}: nothing stands under it; write its settings, or leave it out")
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
    return _build(recipe_values(recipe), set, "recipe")


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
    values, faulty = read_fields(Recipe, _with_places(raw), "", problems)
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


def _with_places(raw: Any) -> Any:
    """Return the recipe with the model of a short name, and the manifests of a folder that ``data`` names."""
    model, data = (raw.get("model"), raw.get("data")) if isinstance(raw, dict) else (None, None)
    if isinstance(model, dict) and isinstance(base := model.get("base"), str) and not path_problem(base):
        raw = raw | {"model": model | {"base": str(resolve_model(base))}}
    if not isinstance(data, dict) or not isinstance(data.get("train"), str) or path_problem(data["train"]):
        return raw
    paths, folder = dict(data), Path(data["train"])
    if (folder / "train.jsonl").is_file():
        paths["train"] = str(folder / "train.jsonl")
        if raw.get("evaluation") is not None and not data.get("dev") and (folder / "dev.jsonl").is_file():
            paths["dev"] = str(folder / "dev.jsonl")
    dev = data.get("dev")
    if isinstance(dev, str) and not path_problem(dev) and (Path(dev) / "dev.jsonl").is_file():
        paths["dev"] = str(Path(dev) / "dev.jsonl")
    return raw | {"data": paths}


_TYPO = 0.9
"""Similarity of names from which a key is a misspelled one, and not an argument of transformers' trainer."""


def read_fields(kind: type[Any], raw: Any, place: str, problems: list[str]) -> tuple[dict[str, Any], set[str]]:
    """Return the valid values of the mapping ``raw`` by field of the dataclass ``kind``, and the names of the others.

    A field is among the others if its value is not valid or missing, or if an unknown key is similar to its name.
    """
    if not isinstance(raw, dict):
        problems.append(f"{place or 'the recipe'}: expected a mapping of keys, not {shorten(raw)}")
        return {}, {field.name for field in dataclasses.fields(kind)}
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    faulty: set[str] = set()
    for key in [key for key in raw if key not in fields]:
        similar = similar_name(key, fields)
        faulty |= {similar} if similar else set()
        problems.append(f"{_join(place, key)}: {_hint(place, key, similar)}")
    values = {}
    for name, field in fields.items():
        before = len(problems)
        if name in raw:
            values[name] = _convert(hints[name], raw[name], _join(place, name), problems)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            problems.append(f"{_join(place, name)}: missing")
        if len(problems) > before:
            faulty.add(name)
            values.pop(name, None)
    return values, faulty


def _hint(place: str, key: object, similar: str | None) -> str:
    """Return what to write in place of an unknown key."""
    typo = place == "training" and similar_name(key, [similar] if similar else [], cutoff=_TYPO) is not None
    new_place = None if typo or place not in ("", "training") else place_of(str(key), all_arguments=place == "training")
    return new_place or "unknown key" + (f" (did you mean {similar!r}?)" if similar else "")


def _join(place: str, key: object) -> str:
    return f"{place}.{key}" if place else str(key)


def _convert(hint: Any, raw: Any, place: str, problems: list[str]) -> Any:
    """Return ``raw`` as the type ``hint``; YAML parses ``1e-5`` as text, so text is also tried as a number."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _within(arguments[1:], arguments[0], raw, place, problems)
    if origin in (types.UnionType, typing.Union):
        required = next(argument for argument in arguments if argument is not type(None))
        return None if raw is None else _convert(required, raw, place, problems)
    if dataclasses.is_dataclass(hint):
        before, (values, _) = len(problems), read_fields(typing.cast(type, hint), raw, place, problems)
        return hint(**values) if len(problems) == before else None  # type: ignore[operator]
    if origin is tuple:
        items = raw if isinstance(raw, list) else [raw]
        return tuple(_convert(arguments[0], item, f"{place}[{i}]", problems) for i, item in enumerate(items))
    if origin is dict:
        if isinstance(raw, dict) and arguments[1] is not Any:
            return {key: _convert(arguments[1], value, _join(place, key), problems) for key, value in raw.items()}
        if isinstance(raw, dict):
            return {key: number_of(value) for key, value in raw.items()}
    elif hint is float:
        if isinstance(number := number_of(raw), int | float) and not isinstance(number, bool):
            return float(number)
    elif type(raw) is hint:
        return raw
    problems.append(f"{place}: expected {TYPE_NAMES.get(origin or hint, 'a mapping of keys')}, not {shorten(raw)}")
    return None


def _within(limits: Sequence[Any], hint: Any, raw: Any, place: str, problems: list[str]) -> Any:
    """Return ``raw`` as the type ``hint``, which has limits."""
    if raw is False and any(isinstance(limit, OneOf) and "no" in limit.values for limit in limits):
        raw = "no"  # YAML parses a bare ``no`` as false
    before = len(problems)
    value = _convert(hint, raw, place, problems)
    if len(problems) == before and value is not None:
        texts = (f"{place}: {problem}" for limit in limits for problem in limit.problems(value))
        problems += itertools.islice(texts, 1)
    return value


def apply_override(raw: dict[str, Any], override: str, problems: list[str]) -> None:
    """Apply ``section.key=value`` to the nested mapping ``raw``.

    >>> raw, problems = {"training": {}}, []
    >>> apply_override(raw, "training.learning_rate=1e-5", problems); raw
    {'training': {'learning_rate': '1e-5'}}
    """
    path, equals, value = override.partition("=")
    if not equals or not path:
        problems.append(f"--set {override}: write section.key=value")
        return
    if not isinstance(raw, dict):
        return  # read_fields reports it
    *parents, last = path.split(".")
    for parent in parents:
        if raw.get(parent) is None:
            raw[parent] = {}
        raw = raw[parent]
        if not isinstance(raw, dict):
            problems.append(f"--set {override}: {parent} is not a section")
            return
    try:
        raw[last] = plain_yaml.parse(value)
    except yaml.YAMLError as error:
        problems.append(f"--set {override}: not YAML: {' '.join(str(error).split())}")
