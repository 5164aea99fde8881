"""A recipe for prepared data and this machine, written to be changed by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsa_whisper.checkpoint import is_local
from lsa_whisper.checkpoint.choice import choose_model
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.from_corpus.plan import plan_recipe
from lsa_whisper.finetuning.from_corpus.source import SourceKind, kind_of_source
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask


@private_umask()
def new_recipe(
    data: Path,
    *,
    out: Path,
    model: str | Path | None = None,
    report: Callable[[str], None] | None = None,
) -> Path:
    """Write a commented recipe that trains a model on ``data`` and fits this machine; return its path.

    Method, epochs and learning rate follow from the amount of data and the size of the model; micro-batch, strategy and
    offloading from the memory of this machine.

    Args:
        data: A folder that ``prepare`` wrote.
        out: The recipe's file, which must not exist. Its run is ``runs/`` and the file's name.
        model: The model to start from: a checkpoint folder or a hub name. By default
            :func:`~lsa_whisper.checkpoint.choice.choose.choose_model` decides.
        report: Receives progress lines; by default they go to standard error.

    Raises:
        CorpusError: If the folder holds no data.
        RecipeError: If the file exists, the folder is not prepared, or nothing fits this machine.
    """
    data, out, report = Path(data), Path(out), report or print_progress
    if out.exists():
        raise RecipeError(f"{out}: exists already; name another file")
    if kind_of_source(data) is not SourceKind.PREPARED:
        raise RecipeError(f"{data}: not prepared data; prepare it with 'lsa-whisper prepare {data} -o DATA'")
    base = choose_model(model, is_training=True, report=report)
    base = Path(base).absolute() if is_local(base) else base
    text = plan_recipe(data.absolute(), str(base), Path("runs") / out.stem, report)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(text, out)
    report(f"train with it: lsa-whisper finetune {out}")
    return out
