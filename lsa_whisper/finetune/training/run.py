"""From a recipe to a checkpoint folder: load, train, save whole."""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import importlib.metadata
import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import set_seed

from lsa_whisper import checkpoint, manifest, plain_json
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.folder import METADATA_FILE, atomic_folder, tidy
from lsa_whisper.disk import convert_disk_errors
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.finetune import Finetuned
from lsa_whisper.finetune.distributed.ranks import rank, report_lost_rank, restored_environment
from lsa_whisper.finetune.distributed.strategy import (
    finish_distributed,
    gather_weights,
    init_distributed,
    reset_distributed,
)
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.finetune.training.dev_evaluation import SAMPLES, TENSORBOARD, manifest_labels
from lsa_whisper.finetune.training.model import prepare_for_training, start
from lsa_whisper.finetune.training.out_of_memory import within_memory
from lsa_whisper.finetune.training.plot import plot_curves
from lsa_whisper.finetune.training.precision import remark
from lsa_whisper.finetune.training.preflight import preflight
from lsa_whisper.finetune.training.resume import can_go_on, check_fits, last_whole, tensors_alone
from lsa_whisper.finetune.training.stop import Stop
from lsa_whisper.finetune.training.trainer import SpeechTrainer
from lsa_whisper.lock import write_lock


def run(recipe: Recipe, say: Callable[[str], None], *, force: bool = False) -> Finetuned:
    """Train and save; see :func:`lsa_whisper.finetune.finetune`."""
    out = Path(recipe.out)
    said = provenance(recipe)
    if (done := _finished(out, said)) is not None:
        say(f"{out} is already trained with this recipe and these data")
        if rank() == 0:
            _tidy(out)
        return done
    if not force:
        preflight(recipe, say if rank() == 0 else _nothing)
    with convert_disk_errors(out, CheckpointError), _only_run(out), restored_environment(), report_lost_rank():
        try:
            return within_memory(recipe, lambda fitting: _run(fitting, said, say), say)
        finally:
            reset_distributed()


@contextlib.contextmanager
def _only_run(out: Path) -> Iterator[None]:
    """Train alone into ``out``: the first of the run's processes holds the lock."""
    if rank() != 0:
        yield
        return
    with write_lock(_unfinished(out), wait=False):
        _drop_finished(out)
        yield


def _drop_finished(out: Path) -> None:
    """Remove the checkpoints of the run that wrote ``out``, and whatever a killed call has left beside it."""
    tidy(out)
    unfinished = _unfinished(out)
    with contextlib.suppress(OSError):
        if (out / METADATA_FILE).read_bytes() == (unfinished / METADATA_FILE).read_bytes():
            # In one step: half of it would look like a run to go on with. The new name is one that tidy knows.
            unfinished.rename(out.with_name(f".{unfinished.name}-done"))
            tidy(out)


def _tidy(out: Path) -> None:
    """Remove what the finished run of ``out`` has left, if it was killed before it could."""
    if _unfinished(out).exists() or any(out.parent.glob(f".{glob.escape(out.name)}.*")):
        with contextlib.suppress(LsaWhisperError, OSError), write_lock(_unfinished(out), wait=False):
            _drop_finished(out)


def _unfinished(out: Path) -> Path:
    return out.with_name(out.name + ".unfinished")


def _run(recipe: Recipe, said: dict[str, Any], say: Callable[[str], None]) -> Finetuned:
    out, labels = Path(recipe.out), manifest_labels(Path(recipe.data.train))
    init_distributed(recipe)
    set_seed(recipe.seed)  # before the model: new weights and an adapter's first ones are drawn from it
    begun = start(recipe, labels)
    model = prepare_for_training(begun, recipe)
    unfinished = _unfinished(out)
    unfinished.mkdir(parents=True, exist_ok=True)
    say = say if rank() == 0 else _nothing
    trainer = SpeechTrainer(recipe, begun, model, unfinished, say)
    if (gpus := _left_alone(trainer)) > 0:
        say(f"one process trains on one GPU; --processes {gpus + 1} uses the other {gpus}, too")
    say(f"training {_millions(model)} of {labels.style} labels on {len(trainer.train_dataset)} windows")
    if warning := remark(recipe):
        say(warning)
    result = _train(trainer, unfinished, say)
    logged = [row["loss"] for row in trainer.state.log_history if "loss" in row]  # of the steps before a stop, too
    said |= {"steps": result.global_step, "loss": logged[-1] if logged else None}
    if trainer.state.best_global_step is not None:
        said["best"] = {
            "step": trainer.state.best_global_step,
            trainer.args.metric_for_best_model: trainer.state.best_metric,
        }
    weights = gather_weights(trainer)
    if rank() == 0:
        saved = _save(trainer, begun, said, unfinished / "saved", weights)
        _keep_log(unfinished, saved, plot=recipe.evaluation is not None and recipe.evaluation.plot)
        shutil.copy(
            saved / METADATA_FILE, unfinished
        )  # by which _drop_finished knows the rest, should this be killed now
        with atomic_folder(out) as folder:
            folder.rmdir()
            saved.rename(folder)  # in one step: half a folder could neither be used nor be replaced
        _drop_finished(out)
    finish_distributed(trainer.accelerator)
    return Finetuned(out, said["steps"], said["loss"])


def _train(trainer: SpeechTrainer, unfinished: Path, say: Callable[[str], None]) -> Any:
    """Train from the last whole checkpoint to the end.

    Raises:
        KeyboardInterrupt: If the run was stopped by Ctrl-C; it goes on when called again.
        SystemExit: If it was stopped by another signal, or cannot go on, with that signal's status.
    """
    with trainer.accelerator.main_process_first():
        begin = last_whole(unfinished, say)
    if begin is not None:
        check_fits(begin, trainer.recipe, trainer.args.world_size, trainer.subject)
        say(f"going on from {begin}")
    stop = Stop(trainer.accelerator)
    trainer.add_callback(stop)
    with stop.listening(), tensors_alone(begin):
        result = trainer.train(resume_from_checkpoint=str(begin) if begin else None)
    if stop.signal and trainer.state.global_step < trainer.state.max_steps:
        goes_on = can_go_on(trainer.recipe)
        then = "the same command goes on" if goes_on else "with offload to nvme it cannot go on"
        say(f"saved after step {trainer.state.global_step} of {trainer.state.max_steps}; {then}")
        finish_distributed(trainer.accelerator)
        # Of a KeyboardInterrupt the command line says that the same command goes on.
        raise KeyboardInterrupt if goes_on and stop.signal == signal.SIGINT else SystemExit(128 + stop.signal)
    return result


def _keep_log(unfinished: Path, out: Path, *, plot: bool) -> None:
    """Put what was written while training beside the weights."""
    if plot:
        plot_curves(unfinished, out / "curve.png")
    for name in ("curve.jsonl", SAMPLES):
        if (unfinished / name).is_file():
            shutil.copyfile(unfinished / name, out / name)
    if (unfinished / TENSORBOARD).is_dir():
        shutil.copytree(unfinished / TENSORBOARD, out / TENSORBOARD)


def _nothing(line: str) -> None:
    """Only the first process speaks."""


def provenance(recipe: Recipe) -> dict[str, Any]:
    """Return what is needed to make the checkpoint again: recipe, hash of the data, versions, revision."""
    packages = ("lsa-whisper", "torch", "transformers", "peft", "accelerate")
    return {
        "recipe": json.loads(json.dumps(dataclasses.asdict(recipe))),  # as a file holds it, to be compared with one
        "manifest_sha256": manifest.sha256(Path(recipe.data.train)),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "revision": _revision(),
    }


def _revision(source: Path = Path(__file__)) -> str | None:
    """Return the git revision of the package's source, ``None`` when it is installed without one.

    An environment often lies inside somebody's repository, which knows nothing of ``source``.
    """
    git = ["git", "-C", str(source.parent)]
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", source.name], capture_output=True, check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _finished(out: Path, said: dict[str, Any]) -> Finetuned | None:
    if not out.is_dir():
        return None
    try:
        before = plain_json.read(out / "lsa_whisper.json").get("provenance", {})
    except (OSError, ValueError):
        return None
    same = all(before.get(key) == said[key] for key in ("recipe", "manifest_sha256"))
    return Finetuned(out, before["steps"], before["loss"]) if same and "steps" in before else None


def _left_alone(trainer: SpeechTrainer) -> int:
    """Return how many GPUs of this machine a run in one process leaves alone."""
    alone = trainer.args.world_size == 1 and trainer.args.device.type == "cuda"
    return torch.cuda.device_count() - 1 if alone else 0


def _millions(model: Any) -> str:
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return f"{trained / 1e6:.2f} M of {sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters"


def _save(trainer: SpeechTrainer, begun: Checkpoint, said: dict[str, Any], out: Path, weights: Any) -> Path:
    model = trainer.accelerator.unwrap_model(trainer.model)
    if hasattr(model, "ctc_head"):
        del model.ctc_head
    model.config.use_cache, model.config.apply_spec_augment = True, False
    return checkpoint.save(
        out,
        model=model,
        feature_extractor=begun.feature_extractor,
        tokenizer=begun.tokenizer,
        labels=begun.labels,
        provenance=said,
        recipe=said["recipe"],
        trained_tokens=trainer.train_dataset.trained_tokens,
        state_dict=weights,
    )
