"""Nested dataclasses from plain YAML values, collecting every problem instead of stopping at the first."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from typing import Any

import yaml

from lsa_whisper import plain_yaml


def build(kind: type, raw: Any, place: str, problems: list[str]) -> Any:
    """Return a ``kind`` dataclass made from the mapping ``raw``, or ``None`` after adding to ``problems``."""
    if not isinstance(raw, dict):
        problems.append(f"{place or 'the recipe'}: expected a mapping of keys, not {_shown(raw)}")
        return None
    before = len(problems)
    hints = typing.get_type_hints(kind)
    known = {item.name: item for item in dataclasses.fields(kind)}
    for key in raw.keys() - known.keys():
        near = difflib.get_close_matches(str(key), known, n=1)
        problems.append(f"{_join(place, key)}: unknown key" + (f" (did you mean {near[0]!r}?)" if near else ""))
    values = {}
    for name, item in known.items():
        if name in raw:
            values[name] = _value(hints[name], raw[name], _join(place, name), problems)
        elif item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            problems.append(f"{_join(place, name)}: missing")
    return kind(**values) if len(problems) == before else None


def _join(place: str, key: object) -> str:
    return f"{place}.{key}" if place else str(key)


def _value(hint: Any, raw: Any, place: str, problems: list[str]) -> Any:
    """Return ``raw`` as ``hint`` asks for it; YAML reads ``1e-5`` as text, so numbers are tried on text too."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return None if raw is None else _value(next(a for a in arguments if a is not type(None)), raw, place, problems)
    if dataclasses.is_dataclass(hint):
        return build(typing.cast(type, hint), raw, place, problems)
    if origin is tuple:
        items = raw if isinstance(raw, list) else [raw]
        return tuple(_value(arguments[0], item, f"{place}[{i}]", problems) for i, item in enumerate(items))
    if origin is dict:
        if isinstance(raw, dict):
            return {key: _number(value) for key, value in raw.items()}
    elif hint is float:
        if isinstance(number := _number(raw), int | float) and not isinstance(number, bool):
            return float(number)
    elif type(raw) is hint:
        return raw
    problems.append(f"{place}: expected {getattr(hint, '__name__', 'a mapping')}, not {_shown(raw)}")
    return None


def _shown(raw: Any) -> str:
    """Return ``raw`` as a message names it: its beginning."""
    shown = repr(raw)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _number(raw: Any) -> Any:
    """Return text such as ``1e-5`` as a number, everything else as it is."""
    if isinstance(raw, str):
        try:
            return float(raw)
        except ValueError:
            return raw
    return raw


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
        return  # what is wrong with the recipe is said once, when it is built
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
