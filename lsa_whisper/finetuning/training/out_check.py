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
    for source in _sources(recipe.model.base):
        if source.resolve() == out.resolve():
            yield f"out: {out} is the model that the run starts from, and would be replaced; choose another folder"
            return
    try:
        verify_replaceable(out)
    except CheckpointError as error:
        yield f"out: {error}"
    except OSError as error:
        yield f"out: {out}: {error.strerror}; choose another folder"


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
