"""A training run, from the recipe to the finished checkpoint folder."""

from __future__ import annotations

import contextlib
import glob
import math
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import set_seed

from lsa_whisper import checkpoint, manifest
from lsa_whisper.checkpoint.folder import METADATA_FILE, atomic_folder, remove_folder_leftovers
from lsa_whisper.checkpoint.verification import read_metadata
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.finetuning.distributed.division import finish_distributed, reset_distributed
from lsa_whisper.finetuning.distributed.ranks import rank, report_lost_rank, restored_environment
from lsa_whisper.finetuning.recipe import LossSettings, Recipe
from lsa_whisper.finetuning.settings.values import HARMLESS, changes
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training import Finetuned
from lsa_whisper.finetuning.training.callbacks import StopOnSignal
from lsa_whisper.finetuning.training.data_check import check_data
from lsa_whisper.finetuning.training.dev_evaluation import manifest_labels
from lsa_whisper.finetuning.training.environment import (
    allocator_environment,
    remove_launcher_settings,
    shorten_socket_paths,
    tf32_remark,
)
from lsa_whisper.finetuning.training.length_check import data_remarks, divergence, small_dev_set, unusual_rate
from lsa_whisper.finetuning.training.memory_limits import preflight, train_within_memory
from lsa_whisper.finetuning.training.model import prepare_for_training, starting_checkpoint
from lsa_whisper.finetuning.training.requirements import check_requirements
from lsa_whisper.finetuning.training.resume import (
    last_complete_checkpoint,
    verify_before_loading,
    verify_resumable,
    weights_only_loading,
)
from lsa_whisper.finetuning.training.saving import keep_log, kept_weights, provenance, save_trained
from lsa_whisper.finetuning.training.trainer import SpeechTrainer
from lsa_whisper.system.deepspeed_internals import destroy_engine
from lsa_whisper.system.disk import convert_disk_errors
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.own_files import own_folder, verify_no_links
from lsa_whisper.system.terminal import counted


def run_training(
    recipe: Recipe, report: Callable[[str], None], *, force: bool = False, name: str = "recipe"
) -> Finetuned:
    """Train by a recipe and save the checkpoint; see :func:`lsa_whisper.finetuning.finetune`.

    ``name`` is the recipe's file, for messages. With ``force``, the requirements need not be met.
    """
    out = Path(recipe.out)
    if (result := _finished(out, recipe)) is not None:
        report(f"{out}: already trained with this recipe and these data")
        leftovers = _unfinished(out).exists() or any(out.parent.glob(f".{glob.escape(out.name)}.*"))
        if rank() == 0 and leftovers:  # of a run that was killed before it removed them
            with contextlib.suppress(LsaWhisperError, OSError), write_lock(_unfinished(out), wait=False):
                _remove_finished_run(out)
        return result
    check_requirements(recipe, name)
    with restored_environment():
        if (remark := remove_launcher_settings(os.environ)) and rank() == 0:
            report(remark)
        os.environ |= allocator_environment(recipe, os.environ)
        return _checked(recipe, report, force=force)


def _checked(recipe: Recipe, report: Callable[[str], None], *, force: bool) -> Finetuned:
    """Train by a recipe whose requirements are met, if its memory suffices."""
    out, record = Path(recipe.out), provenance(recipe)
    tell = report if rank() == 0 else report_nothing
    if recipe.model.base is not None and rank() == 0:
        report(checkpoint.overview_line(recipe.model.base))
    if not force:
        preflight(recipe, tell)
    if remark := tf32_remark(recipe):
        tell(remark)
    if out.is_dir() and any(out.iterdir()):
        tell(f"{out}: holds another model already, which is replaced when this run ends; -o names another folder")
    if recipe.data.workers:
        shorten_socket_paths()
    with convert_disk_errors(out, CheckpointError), _only_run(out), report_lost_rank():
        try:
            return train_within_memory(recipe, lambda fitting: _run(fitting, record, report), report)
        finally:
            reset_distributed()


@contextlib.contextmanager
def _only_run(out: Path) -> Iterator[None]:
    """Hold the lock on ``out``, on rank 0."""
    if rank() != 0:
        yield
        return
    with write_lock(_unfinished(out), wait=False):
        _remove_finished_run(out)
        yield


def _remove_finished_run(out: Path) -> None:
    """Remove the checkpoints of the run that wrote ``out``, and what a killed call has left next to it."""
    remove_folder_leftovers(out)
    unfinished = _unfinished(out)
    with contextlib.suppress(OSError):
        if (out / METADATA_FILE).read_bytes() == (unfinished / METADATA_FILE).read_bytes():
            # Renamed first: a half-removed folder would look like a run to resume.
            unfinished.rename(out.with_name(f".{unfinished.name}-done"))
            remove_folder_leftovers(out)


def _unfinished(out: Path) -> Path:
    return out.with_name(out.name + ".unfinished")


def _run(recipe: Recipe, record: dict[str, Any], report: Callable[[str], None]) -> Finetuned:
    out, labels = Path(recipe.out), manifest_labels(Path(recipe.data.train))
    strategy = strategy_of(recipe)
    strategy.start(recipe)
    set_seed(recipe.seed)  # before the model: new weights and adapters are initialized randomly
    verify_before_loading(_unfinished(out), recipe)
    if recipe.model.base is not None:
        check_data(recipe)
    start = starting_checkpoint(recipe, labels)
    if recipe.model.base is None:
        check_data(recipe, start)
    model = prepare_for_training(start, recipe)
    unfinished = _unfinished(out)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    own_folder(unfinished)
    if rank() == 0:
        verify_no_links(unfinished)
    report = report if rank() == 0 else report_nothing
    trainable, weight_bytes = _parameter_counts(model), 2 * sum(weight.numel() for weight in start.model.parameters())
    division = strategy.divide(model, recipe, start.unread)
    trainer = SpeechTrainer(recipe, start, model, unfinished, report, division)
    if (gpus := _unused_gpus(trainer)) > 0:
        report(f"one process trains on one GPU; --processes {gpus + 1} uses the other {gpus}, too")
    report(f"training {trainable} of {labels.style} labels on {counted(len(trainer.train_dataset), 'window')}")
    try:
        return _trained_and_saved(trainer, start, record, weight_bytes, report)
    except BaseException:
        # It may begin again with smaller micro-batches. Several ranks after a failure cannot synchronize.
        if trainer.args.world_size == 1:
            with contextlib.suppress(Exception):  # the failure itself is reported
                destroy_engine(trainer.accelerator)
        raise


def _trained_and_saved(
    trainer: SpeechTrainer,
    start: checkpoint.Checkpoint,
    record: dict[str, Any],
    weight_bytes: int,
    report: Callable[[str], None],
) -> Finetuned:
    recipe, out = trainer.recipe, Path(trainer.recipe.out)
    unfinished = _unfinished(out)
    if trainer.dev_evaluation:
        report(trainer.dev_evaluation.cost(recipe, trainer.args.world_size, weight_bytes))
    remarks = data_remarks(recipe, trainer.train_dataset, trainer.args.world_size)
    for line in filter(None, (unusual_rate(recipe), small_dev_set(recipe), *remarks)):
        report(line)
    result = _train(trainer, unfinished, report)
    trainer.finish_average()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]  # those before a stop, too
    record |= {"steps": result.global_step, "loss": losses[-1] if losses else None}
    warning = None
    if recipe.model.base and not trainer.args.load_best_model_at_end:
        is_plain = recipe.loss == LossSettings() and not recipe.model.ctc_weight
        guessing = math.log(start.model.config.vocab_size) if is_plain else math.inf
        if warning := divergence(losses, guessing):
            report(warning)
    record |= {"changes": trainer.identity["changes"]} if trainer.identity["changes"] else {}
    if trainer.state.best_global_step is not None:
        record["best"] = {
            "step": trainer.state.best_global_step,
            trainer.args.metric_for_best_model: trainer.state.best_metric,
        }
    weights = trainer.gathered_weights()
    if rank() == 0:
        with kept_weights(unfinished):
            model_folder = save_trained(trainer, start, record, unfinished / "saved", weights)
        keep_log(unfinished, model_folder, plot=recipe.evaluation is not None and recipe.evaluation.plot)
        shutil.copy(model_folder / METADATA_FILE, unfinished)  # marks it as this run's if this call is killed
        with atomic_folder(out) as folder:
            folder.rmdir()
            model_folder.rename(folder)  # in one step: a partial folder could be neither used nor replaced
        _remove_finished_run(out)
    finish_distributed(trainer.accelerator)
    return Finetuned(out, record["steps"], record["loss"], diverged=warning is not None)


def _train(trainer: SpeechTrainer, unfinished: Path, report: Callable[[str], None]) -> Any:
    """Train from the last complete checkpoint to the end.

    Raises:
        KeyboardInterrupt: If the run was stopped by Ctrl-C; the same call resumes it.
        SystemExit: If it was stopped by another signal, or cannot be resumed, with that signal's status.
    """
    with trainer.accelerator.main_process_first():
        begin = last_complete_checkpoint(unfinished, report)
    if begin is not None:
        trainer.identity["changes"] = verify_resumable(begin, trainer.recipe, trainer.args.world_size, trainer.identity)
        if trainer.average:
            trainer.average.load(begin)
        report(f"resuming from {begin}")
    stop = StopOnSignal(trainer.accelerator)
    trainer.add_callback(stop)
    with stop.handling_signals(), weights_only_loading(begin):
        result = trainer.train(resume_from_checkpoint=str(begin) if begin else None)
    if stop.signal and trainer.state.global_step < trainer.state.max_steps:
        resumable = trainer.recipe.can_resume
        then = "run the same command again to resume" if resumable else "with offload to nvme it cannot be resumed"
        report(f"saved after step {trainer.state.global_step} of {trainer.state.max_steps}; {then}")
        finish_distributed(trainer.accelerator)
        # For a KeyboardInterrupt the command line says how to resume.
        raise KeyboardInterrupt if resumable and stop.signal == signal.SIGINT else SystemExit(128 + stop.signal)
    return result


def report_nothing(line: str) -> None:
    """Report nothing; only rank 0 reports."""


def _finished(out: Path, recipe: Recipe) -> Finetuned | None:
    """Return the finished run of this recipe on these data, ``None`` if there is none."""
    if not out.is_dir() or not manifest.is_manifest(recipe.data.train):
        return None
    record = provenance(recipe)
    try:
        before = read_metadata(out).get("provenance", {})
    except CheckpointError:
        return None
    same = before.get("manifest_sha256") == record["manifest_sha256"] and not changes(
        before["recipe"] if isinstance(before.get("recipe"), dict) else {}, record["recipe"], besides=HARMLESS
    )
    return Finetuned(out, before["steps"], before["loss"]) if same and {"steps", "loss"} <= before.keys() else None


def _unused_gpus(trainer: SpeechTrainer) -> int:
    """Return how many GPUs of this machine a run in one process does not use."""
    single = trainer.args.world_size == 1 and trainer.args.device.type == "cuda"
    return torch.cuda.device_count() - 1 if single else 0


def _parameter_counts(model: Any) -> str:
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return f"{trainable / 1e6:.2f} M of {sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters"
