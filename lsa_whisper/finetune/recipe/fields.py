"""Nested dataclasses from plain YAML values, with every problem collected instead of only the first.

Own code, because msgspec, OmegaConf and jsonargparse stop at the first problem.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from typing import Any, TypeVar

import yaml

from lsa_whisper import plain_yaml

Section = TypeVar("Section")


def build_section(kind: type[Section], raw: Any, place: str, problems: list[str]) -> Section | None:
    """Return a ``kind`` dataclass built from the mapping ``raw``, or ``None`` after adding to ``problems``."""
    if not isinstance(raw, dict):
        problems.append(f"{place or 'the recipe'}: expected a mapping of keys, not {_shorten(raw)}")
        return None
    before = len(problems)
    hints = typing.get_type_hints(kind)
    known = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]  # always a dataclass
    for key in raw.keys() - known.keys():
        similar = difflib.get_close_matches(str(key), known, n=1)
        hint = f" (did you mean {similar[0]!r}?)" if similar else ""
        problems.append(f"{_join(place, key)}: unknown key{hint}")
    values = {}
    for name, field in known.items():
        if name in raw:
            values[name] = _convert(hints[name], raw[name], _join(place, name), problems)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            problems.append(f"{_join(place, name)}: missing")
    return kind(**values) if len(problems) == before else None


def _join(place: str, key: object) -> str:
    return f"{place}.{key}" if place else str(key)


def _convert(hint: Any, raw: Any, place: str, problems: list[str]) -> Any:
    """Return ``raw`` as the type ``hint``; YAML parses ``1e-5`` as text, so text is also tried as a number."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        required = next(argument for argument in arguments if argument is not type(None))
        return None if raw is None else _convert(required, raw, place, problems)
    if dataclasses.is_dataclass(hint):
        return build_section(typing.cast(type, hint), raw, place, problems)
    if origin is tuple:
        items = raw if isinstance(raw, list) else [raw]
        return tuple(_convert(arguments[0], item, f"{place}[{i}]", problems) for i, item in enumerate(items))
    if origin is dict:
        if isinstance(raw, dict):
            return {key: _number(value) for key, value in raw.items()}
    elif hint is float:
        if isinstance(number := _number(raw), int | float) and not isinstance(number, bool):
            return float(number)
    elif type(raw) is hint:
        return raw
    problems.append(f"{place}: expected {getattr(hint, '__name__', 'a mapping')}, not {_shorten(raw)}")
    return None


def _shorten(raw: Any) -> str:
    """Return the beginning of ``raw``'s representation, for messages."""
    text = repr(raw)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _number(raw: Any) -> Any:
    """Return text such as ``1e-5`` as a number, anything else unchanged."""
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
        return  # build_section reports it
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
