"""What the arguments of commands may be: paths, also of shipped files, and models by any of their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lsa_whisper.system.shipped import with_shipped


class _PathType(click.Path):
    """A path; a shipped file has its name of the repository where the working folder has no such file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        return path if param is not None and param.name == "out" else with_shipped(Path(path))


class _ModelType(click.ParamType[Any]):
    """A checkpoint folder, a hub name, or a short name such as ``base``, ``large-v3`` or ``nano``."""

    name = "model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from lsa_whisper.checkpoint.choice import resolve_model

        found = resolve_model(value) if value else value
        return Path(found) if isinstance(found, str) and Path(found).is_dir() else found


class _SourceType(click.ParamType[Any]):
    """A name or a path, as text."""

    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return str(with_shipped(Path(value))) if "/" in value else value


PATH = _PathType(path_type=Path)
MODEL = _ModelType()
SOURCE = _SourceType()
