"""Paths that no file can have, and folders that a run cannot be written to, told by their names alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.finetuning.recipe.schema import Recipe

_NAME_BYTES, _PATH_BYTES = 240, 4000
"""File systems take names of 255 bytes and paths of 4,096; a run appends to the name of its folder."""


def path_problem(text: str) -> str | None:
    """Return why ``text`` cannot be the path of a file or a folder, ``None`` if it can.

    >>> path_problem("runs/a"), path_problem(" "), path_problem("a" * 300)
    (None, 'is empty', 'a name of 300 bytes; choose one of at most 240')
    """
    if not text.strip():
        return "is empty"
    if not text.isprintable():
        return f"{text!r} holds a character that does not belong into a path"
    longest = max(len(part.encode()) for part in text.split("/"))
    if longest > _NAME_BYTES:
        return f"a name of {longest} bytes; choose one of at most {_NAME_BYTES}"
    size = len(text.encode())
    return f"a path of {size} bytes; choose one of at most {_PATH_BYTES}" if size > _PATH_BYTES else None


def name_problems(recipe: Recipe) -> Iterator[str]:
    """Yield the problems of the recipe's paths."""
    evaluation, scratch = recipe.evaluation, recipe.model.scratch
    named: dict[str, str | None] = {"out": recipe.out, "data.train": recipe.data.train, "data.dev": recipe.data.dev}
    named |= {"model.base": recipe.model.base, "offload.nvme_path": recipe.offload.nvme_path}
    named |= {"evaluation.out_of_domain": evaluation.out_of_domain} if evaluation else {}
    named |= {f"evaluation.dev_sets.{name}": path for name, path in (evaluation.dev_sets if evaluation else {}).items()}
    for number, path in enumerate(scratch.vocab_manifests if scratch else ()):
        named[f"model.scratch.vocab_manifests[{number}]"] = path
    for key, text in named.items():
        if text is not None and (problem := path_problem(text)):
            yield f"{key}: {problem}"
        elif key == "out" and not Path(recipe.out).name:
            yield f"out: {recipe.out} is not the name of a new folder; choose one such as runs/first"
