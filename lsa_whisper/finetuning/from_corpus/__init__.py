"""Fine-tuning from any source: a recipe, a shipped recipe's name, prepared data, or a corpus.

For data without a recipe, ``plan`` chooses one that fits the data, the model and this machine, and it is written
next to the result, commented, so that the run can be read, changed and repeated.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from lsa_whisper import checkpoint, manifest
from lsa_whisper.checkpoint.choice import choose_model, resolve_model
from lsa_whisper.checkpoint.folder import verify_replaceable
from lsa_whisper.checkpoint.user_settings import remember_model
from lsa_whisper.checkpoint.verification import absolute_model
from lsa_whisper.errors import CorpusError, RecipeError
from lsa_whisper.finetuning import Finetuned
from lsa_whisper.finetuning import finetune as finetune_by_recipe
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.catalog import find_recipe
from lsa_whisper.finetuning.distributed.launch import LAUNCHER
from lsa_whisper.finetuning.from_corpus.method import (
    LITTLE_H,
    is_stock_base,
    split_path,
)
from lsa_whisper.finetuning.from_corpus.plan import plan_recipe
from lsa_whisper.finetuning.workload.dev_set import MIN_DEV_DISFLUENCIES, MIN_DEV_WORDS, decides, dev_size
from lsa_whisper.preparation import prepare
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.files import path_of
from lsa_whisper.system.terminal import counted, print_progress
from lsa_whisper.system.umask import private_umask

__all__ = ["finetune", "new_recipe"]

_RECIPE_FILE = "recipe.yaml"


@private_umask()
def finetune(
    source: Path | str,
    *,
    model: str | Path | None = None,
    set: Sequence[str] | str = (),
    out: Path | None = None,
    processes: int = 1,
    force: bool = False,
    report: Callable[[str], None] | None = None,
) -> Finetuned:
    """Fine-tune a Whisper model and return where the checkpoint is.

    A run that was interrupted resumes from its last saved step when called again; a finished one is left as it is.

    Without a recipe, a corpus is prepared into ``OUT.data``, a recipe that suits the data and this machine is written
    to ``OUT.recipe.yaml``, and a copy of it to ``OUT/recipe.yaml`` in the end. A recipe that is already there is used
    as it is, so that it can be changed by hand.

    Args:
        source: A recipe (YAML), the name of a shipped recipe, a folder that ``prepare`` wrote, or a corpus: a folder
            of CHAT transcripts and recordings.
        model: The model to start from: a checkpoint folder or a hub name. If not given, the recipe's; without a recipe
            :func:`~lsa_whisper.checkpoint.choice.choose_model` decides.
        set: Overrides of recipe values such as ``training.learning_rate=1e-5``.
        out: The checkpoint's folder. If not given, the recipe's; without a recipe ``runs/`` and the source's name.
        processes: Number of processes on this machine that train together, one per GPU. Under torchrun, accelerate or
            SLURM leave it at 1: the ranks are found in the environment.
        force: Train even if the plan does not fit this machine or required tools are missing.
        report: Receives progress lines; by default they go to standard error.

    Raises:
        CorpusError: If the folder holds no data, or the corpus cannot be prepared.
        RecipeError: If the recipe has problems, does not fit this machine, or runs out of memory.
        ManifestError: If the prepared data do not fit the model.
        CheckpointError: If the model to start from cannot be loaded.
    """
    report, set = report or print_progress, [set] if isinstance(set, str) else set
    kind = kind_of_source(source)
    if kind is SourceKind.RECIPE:
        recipe = _named_recipe(str(source))
        overrides = [f"model.base={recipes.quote_override(model)}"] if model else []
    else:
        recipes.verify_overrides(set)  # before minutes of preparing
        folder = Path(source)
        out = Path(out) if out is not None else Path("runs") / folder.absolute().name
        verify_replaceable(out)
        recipe, overrides = _planned_recipe(folder, kind, out, model, set, report, force), []
    result = finetune_by_recipe(
        recipe, set=[*overrides, *set], out=out, processes=processes, force=force, report=report
    )
    if LAUNCHER not in os.environ and os.environ.get("RANK", "0") == "0":
        if kind is not SourceKind.RECIPE:
            shutil.copyfile(recipe, result.out / _RECIPE_FILE)
        remember_model(result.out)
        if not result.diverged:
            report(f"to transcribe with it by default: lsa-whisper models use {shlex.quote(str(result.out))}")
    return result


@private_umask()
def new_recipe(
    data: Path, *, out: Path, model: str | Path | None = None, report: Callable[[str], None] | None = None
) -> Path:
    """Write a commented recipe that trains a model on ``data`` and fits this machine; return its path.

    Method, epochs and learning rate follow from the amount of data and the size of the model; micro-batch, strategy and
    offloading from the memory of this machine.

    Args:
        data: A folder that ``prepare`` wrote.
        out: The recipe's file, which must not exist. Its run is ``runs/`` and the file's name.
        model: The model to start from: a checkpoint folder or a hub name. By default
            :func:`~lsa_whisper.checkpoint.choice.choose_model` decides.
        report: Receives progress lines; by default they go to standard error.

    Raises:
        CorpusError: If the folder holds no data.
        RecipeError: If the file exists, the folder is not prepared, or nothing fits this machine.
    """
    data, out, report = path_of(data), path_of(out), report or print_progress
    if out.exists():
        raise RecipeError(f"{out}: exists already; name another file")
    if kind_of_source(data) is not SourceKind.PREPARED:
        raise RecipeError(f"{data}: not prepared data; prepare it with 'lsa-whisper prepare {data} -o DATA'")
    base = absolute_model(choose_model(model, is_training=True, report=report))
    text = plan_recipe(data.absolute(), str(base), Path("runs") / out.stem, report)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(text, out)
    report(f"train with it: lsa-whisper finetune {shlex.quote(str(out))}")
    return out


def _named_recipe(source: str) -> Path:
    if Path(source).exists() or Path(source).suffix in (".yaml", ".yml"):
        if Path(source).suffix not in (".yaml", ".yml"):
            raise RecipeError(f"{source}: is not a recipe (.yaml); name a folder of transcripts and recordings, or one")
        return Path(source)
    return find_recipe(source)


def _planned_recipe(
    source: Path,
    kind: SourceKind,
    out: Path,
    model: str | Path | None,
    set: Sequence[str],
    report: Callable[[str], None],
    force: bool,
) -> Path:
    """Return the recipe next to ``out``; if there is none, prepare the data, choose one and write it."""
    path = out.with_name(f"{out.name}.{_RECIPE_FILE}")
    if path.exists():
        there = recipes.read_recipe(path)
        if model and str(absolute_model(resolve_model(model))) != there.model.base:
            raise RecipeError(f"{path}: starts from {there.model.base}, not {model}; remove it, or set another --out")
        if not _trains_on(there.data.train, source):
            raise RecipeError(f"{path}: trains on other data than {source}; remove it, or set another --out")
        report(f"training by {path} on {there.data.train}, which are there already; remove {path} to plan again")
        return path
    base = absolute_model(choose_model(model, is_training=True, report=report))
    data = source.absolute()
    if kind is SourceKind.CORPUS:
        data = out.with_name(f"{out.name}.data").absolute()
        prepare_for(str(base), source, data, report)
    text = plan_recipe(data, str(base), out, report, set=set, force=force)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(text, path)
    report(f"the recipe is in {path}")
    return path


def _trains_on(train: str, source: Path) -> bool:
    """Return whether a manifest, or the recording of its first window, is in the folder ``source``."""
    places, first = {source.absolute(), source.resolve()}, next(manifest.stream(train), None)
    files = [Path(train).absolute(), *([Path(first.audio_filepath)] if first else [])]
    return any(places & {*file.parents, *file.resolve().parents} for file in files)


class SourceKind(StrEnum):
    """The kinds of input that training can start from."""

    RECIPE = "recipe"
    PREPARED = "prepared"
    CORPUS = "corpus"


def kind_of_source(source: Path | str) -> SourceKind:
    """Return what ``source`` is; whatever is not a folder is a recipe's path or name.

    >>> kind_of_source("whisper-large-v3-lora").value
    'recipe'

    Raises:
        CorpusError: If it is a folder without prepared data and without transcripts.
    """
    folder = path_of(source)
    if not folder.is_dir():
        return SourceKind.RECIPE
    if (folder / "train.jsonl").is_file() or next(folder.glob("train-*.parquet"), None) is not None:
        return SourceKind.PREPARED
    if next(folder.rglob("*.cha"), None) is not None:
        return SourceKind.CORPUS
    raise CorpusError(
        f"{folder}: holds neither prepared data (train.jsonl, or shards) nor CHAT transcripts (.cha); "
        "name a corpus, a folder that 'lsa-whisper prepare' wrote, or a recipe"
    )


def prepare_for(base: str, corpus: Path, data: Path, report: Callable[[str], None]) -> None:
    """Prepare ``corpus`` into ``data`` for fine-tuning ``base``.

    Of less than an hour, a stock Whisper learns without timestamps, which cost it words. All recordings train unless
    the dev set is large enough to decide anything.

    Raises:
        CorpusError: The corpus has no usable utterance, or an hour or more and none in its dev or test set.
    """
    context_s = checkpoint.load(base, weights=False).context_s
    report(f"preparing {corpus} in windows of up to {context_s:g} s")
    unusable = ""
    try:
        result = prepare([corpus], data, context_s=context_s)
    except CorpusError as error:  # of few recordings, the only one of a split may have no usable utterance
        result, unusable = prepare([corpus], data, context_s=context_s, train_only=True), str(error)
    if result.splits["train"]["audio_h"] < LITTLE_H:
        words, events = dev_size(dev := split_path(data, "dev"))
        without, train_only = 1.0 if is_stock_base(base) else 0.2, not decides(dev)
        result = prepare([corpus], data, context_s=context_s, without_timestamps=without, train_only=train_only)
        if unusable:
            report(f"all recordings train, and the last step is kept: {unusable}")
        elif train_only:
            report(
                f"all recordings train, and the last step is kept: the dev set would have {counted(words, 'word')} and "
                f"{counted(events, 'disfluency')}, and fewer than {MIN_DEV_WORDS} and {MIN_DEV_DISFLUENCIES} cannot "
                "tell which step is best"
            )
    elif unusable:
        raise CorpusError(unusable)
    report(result.table())
