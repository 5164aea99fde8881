"""Whether a run may write to its ``out``: known before it begins, not after hours of training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.folder import verify_replaceable
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE
from lsa_whisper.checkpoint.verification import is_local
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning.recipe import Recipe


def out_problems(recipe: Recipe) -> Iterator[str]:
    """Yield why ``out`` cannot be written: it is what the run starts from, or holds something else."""
    out = Path(recipe.out)
    unfinished = out.with_name(f"{out.name}.unfinished")
    for place in (out, unfinished):
        if place.is_symlink() and not place.is_dir():
            yield f"out: {place} is a symbolic link to nothing; remove it or choose another folder"
            return
    if unfinished.is_symlink() or (unfinished.exists() and not unfinished.is_dir()):
        yield f"out: {unfinished}, in which a run keeps its checkpoints, is not a folder; remove it"
        return
    yield from _overlaps(recipe, out.resolve(), unfinished.resolve())
    try:
        verify_replaceable(out)
    except CheckpointError as error:
        yield f"out: {error}"
    except OSError as error:
        yield f"out: {out}: {error.strerror}; choose another folder"


def _overlaps(recipe: Recipe, out: Path, unfinished: Path) -> Iterator[str]:
    """Yield that writing ``out`` would replace what the run reads, or add to it."""
    for source in (folder.resolve() for folder in _sources(recipe.model.base)):
        if source == out:
            yield f"out: {out} is the model that the run starts from, and would be replaced; choose another folder"
        elif source in out.parents:
            yield f"out: {out} is inside the model that the run starts from; choose another folder"
        elif out in source.parents:
            yield f"out: {out} holds the model that the run starts from, and would be replaced; choose another folder"
        elif unfinished in (source, *source.parents):
            yield f"out: the model that the run starts from is in {unfinished}, which is removed; choose another folder"
    read = [recipe.data.train, *([recipe.data.dev] if recipe.data.dev else [])]
    if any(folder in Path(path).resolve().parents for path in read for folder in (out, unfinished)):
        yield f"out: {out} or {unfinished.name} holds the data, and would be replaced; choose another folder"


def _sources(base: str | None) -> Iterator[Path]:
    """Yield the folders that a run starts from: its base and, if that is an adapter, what it adapts."""
    if base is None or not is_local(base) or not Path(base).is_dir():
        return
    yield Path(base)
    if (Path(base) / ADAPTER_FILE).is_file():
        try:
            yield from _sources(base_of(Path(base)))
        except (CheckpointError, RecursionError):  # loading it reports why
            return
