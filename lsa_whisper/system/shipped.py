"""Recipes, the small model and the demo's corpus, wherever the package is installed.

A wheel carries them inside the package; in a checkout they stand next to it, at the top of the repository.
"""

from __future__ import annotations

from pathlib import Path

NANO = "models/nano"
STORYBOOK = "corpora/storybook"

_PACKAGE = Path(__file__).parents[1]
_SHIPPED = (NANO, STORYBOOK, "recipes/")
_IN_WHEEL = _PACKAGE / "shipped"


def shipped(name: str) -> Path:
    """Return where a shipped file or folder is, relative to the working folder if it is inside of it.

    ``name`` is its path in the repository, such as ``models/nano`` or ``recipes/demo-lora.yaml``.

    >>> shipped(NANO).name
    'nano'
    """
    path = (_IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent) / name
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def with_shipped(path: Path) -> Path:
    """Return a path, or the shipped file of that name where the working folder has none.

    >>> with_shipped(Path("corpora/storybook/test")).is_dir(), with_shipped(Path("visits"))
    (True, PosixPath('visits'))
    """
    name = path.as_posix()
    if not name.startswith(_SHIPPED) or path.exists():
        return path
    place = shipped(name)
    return place if place.exists() else path


def recipes() -> dict[str, Path]:
    """Return the shipped recipes by name, sorted.

    >>> recipes()["whisper-large-v3-lora"].name
    'whisper-large-v3-lora.yaml'
    """
    return {path.stem: path for path in sorted(shipped("recipes").glob("*.yaml"))}
