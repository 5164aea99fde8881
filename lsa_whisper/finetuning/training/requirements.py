"""What a run needs of this machine and of the files that its recipe names, checked before anything is loaded."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from lsa_whisper import manifest
from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.folder import verify_replaceable
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE
from lsa_whisper.checkpoint.verification import is_local
from lsa_whisper.errors import CheckpointError, LsaWhisperError, RecipeError
from lsa_whisper.finetuning.distributed.ranks import is_launched
from lsa_whisper.finetuning.recipe import Recipe, list_problems
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.adapter import check_second_stage, require_bitsandbytes
from lsa_whisper.finetuning.training.arguments import optimizer_arguments
from lsa_whisper.finetuning.training.dev_evaluation import evaluation_callbacks
from lsa_whisper.finetuning.training.length_check import check_schedule
from lsa_whisper.finetuning.training.precision import precision_arguments
from lsa_whisper.finetuning.workload.shape import shape_of
from lsa_whisper.system.library_internals import reset_training_state
from lsa_whisper.system.machine import usable_cores

_MIN_WORKERS, _WORKERS_PER_CORE = 64, 8
"""So many data loader processes are accepted on any machine, and so many for each core that this process may use."""


def check_requirements(recipe: Recipe, path: str = "recipe") -> None:
    """Return if the recipe's files exist and this machine supports its settings.

    ``path`` says in messages where the recipe comes from.

    Raises:
        RecipeError: With every problem. A single problem may be another :class:`LsaWhisperError`.
    """
    errors: list[LsaWhisperError] = [RecipeError(problem) for problem in _files(recipe)]
    errors += [RecipeError(problem) for problem in (*out_problems(recipe), *_layers(recipe), *_workers(recipe))]
    for check in _CHECKS:
        try:
            check(recipe)
        except LsaWhisperError as error:
            errors.append(error)
    if len(errors) == 1 and not isinstance(errors[0], RecipeError):
        raise errors[0]
    if errors:
        raise RecipeError(list_problems(path, [str(error) for error in errors]))


def _files(recipe: Recipe) -> Iterator[str]:
    """Yield manifests that the recipe names and that are not there."""
    dev = {"data.dev": recipe.data.dev} if recipe.evaluation else {}
    sets = recipe.evaluation.other_sets if recipe.evaluation else {}
    paths = {f"evaluation.{n if n == 'out_of_domain' else f'dev_sets.{n}'}": path for n, path in sets.items()}
    scratch = recipe.model.scratch
    for number, path in enumerate(scratch.vocab_manifests if scratch else ()):
        paths[f"model.scratch.vocab_manifests[{number}]"] = path
    for key, name in {"data.train": recipe.data.train, **dev, **paths}.items():
        if name and not manifest.is_manifest(name):
            fault = "is a folder without prepared data" if Path(name).is_dir() else "no such manifest"
            yield f"{key}: {name}: {fault}; make one with 'lsa-whisper prepare'"


def _layers(recipe: Recipe) -> Iterator[str]:
    """Yield numbers of layers that the base does not have."""
    top, count = recipe.model.top_layers, recipe.model.decoder_layers
    if recipe.model.base is None or (top is None and count is None):
        return
    try:
        shape = shape_of(recipe.model.base)
    except CheckpointError:  # a model on the hub, or none: loading it tells
        return
    stacks = {"decoder": shape.decoder_layers}
    stacks |= {} if recipe.model.freeze_encoder else {"encoder": shape.encoder_layers}
    if top is not None and top > min(stacks.values()):
        has = " and ".join(f"{layers} in its {stack}" for stack, layers in stacks.items())
        yield f"model.top_layers: the base has {has}, fewer than {top}"
    if count is not None and (count < shape.decoder_layers or count % shape.decoder_layers):
        yield f"model.decoder_layers: must be a multiple of the base's {shape.decoder_layers} layers, not {count}"


def _workers(recipe: Recipe) -> Iterator[str]:
    """Yield more data loader processes than make sense here: each takes about 0.7 GiB."""
    cores = usable_cores()
    if recipe.data.workers > max(_MIN_WORKERS, _WORKERS_PER_CORE * cores):
        yield (
            f"data.workers: {recipe.data.workers} processes, but this one may use {cores} processor cores; set "
            f"{min(cores, 8)}"
        )


def _liger(recipe: Recipe) -> None:
    if recipe.trainer_args.get("use_liger_kernel") and importlib.util.find_spec("liger_kernel") is None:
        raise RecipeError(
            "trainer_args.use_liger_kernel: needs the package liger-kernel, which is not installed; install it (pip "
            "install liger-kernel) or leave the setting out"
        )


def _attention(recipe: Recipe) -> None:
    """Raise if FlashAttention is requested where it cannot run."""
    if recipe.model.attention != "flash_attention_2":
        return
    import torch

    if not torch.cuda.is_available():
        raise RecipeError("model.attention: flash_attention_2 needs a GPU, but this machine has none; use sdpa")
    if importlib.util.find_spec("flash_attn") is None:
        raise RecipeError(
            "model.attention: flash_attention_2 needs the package flash-attn, which is not installed; install it "
            "(pip install flash-attn) or use sdpa"
        )


def _quantization(recipe: Recipe) -> None:
    if recipe.adapter and recipe.adapter.quantize != "none":
        require_bitsandbytes(f"adapter.quantize: {recipe.adapter.quantize}")


def _trainer_args(recipe: Recipe) -> None:
    """Raise if transformers rejects ``trainer_args`` together; in a launched rank that is found with the trainer."""
    if not recipe.trainer_args or is_launched():
        return
    from transformers import Seq2SeqTrainingArguments

    from lsa_whisper.finetuning.training.arguments import trainer_settings

    with tempfile.TemporaryDirectory() as folder:
        try:
            Seq2SeqTrainingArguments(**trainer_settings(recipe, Path(folder)))
        except (TypeError, ValueError) as error:
            raise RecipeError(f"trainer_args: {error}") from None
        finally:
            reset_training_state()


_CHECKS: tuple[Callable[[Recipe], object], ...] = (
    precision_arguments,
    optimizer_arguments,
    _attention,
    _quantization,
    _liger,
    check_schedule,
    check_second_stage,
    lambda recipe: evaluation_callbacks(recipe, Path()),
    lambda recipe: strategy_of(recipe).check_requirements(recipe),
    _trainer_args,
)


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
    sources = [recipe.data.train, *([recipe.data.dev] if recipe.data.dev else [])]
    if any(folder in Path(path).resolve().parents for path in sources for folder in (out, unfinished)):
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
