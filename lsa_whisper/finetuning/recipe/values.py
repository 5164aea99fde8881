"""Values and names of a recipe as messages show them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text", dict: "a mapping of keys"}
"""How messages name the type of a value."""


def similar_name(name: object, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to a misspelled one, ``None`` if none is.

    >>> similar_name("learning_rat", ["learning_rate", "max_steps"])
    'learning_rate'
    """
    return next(iter(difflib.get_close_matches(str(name), list(known), n=1, cutoff=cutoff)), None)


def shorten(raw: Any) -> str:
    """Return the beginning of ``raw``'s representation, for messages."""
    text = repr(raw)
    return text if len(text) <= 80 else f"{text[:77]}..."


def number_of(raw: Any) -> Any:
    """Return text such as ``1e-5`` as a number, anything else unchanged; YAML parses such numbers as text."""
    if isinstance(raw, str):
        try:
            return float(raw)
        except ValueError:
            return raw
    return raw


def flat(settings: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value in nested mappings with its dotted key.

    >>> list(flat({"strategy": "zero3", "offload": {"optimizer": "cpu"}}))
    [('strategy', 'zero3'), ('offload.optimizer', 'cpu')]
    """
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value
