"""One trainer for every strategy: transformers' own, with the exact loss and a quiet, plain log."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, TrainerCallback
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from lsa_whisper.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.saving import verify_tensors
from lsa_whisper.dataset import Collator, WindowDataset
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune import fsdp, zero
from lsa_whisper.finetune.loss import ExactLoss
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.finetune.resume import MARK, drop_older, mark_whole
from lsa_whisper.finetune.strategy import arguments_for, gathered
from lsa_whisper.finetune.trim import LengthGroupedSampler

_DEFAULTS: dict[str, Any] = {
    "report_to": "none",
    "save_only_model": False,
    "save_total_limit": 1,
    "save_strategy": "no",
    "logging_steps": 25,
    "disable_tqdm": True,
    "remove_unused_columns": False,
    "label_names": ["labels"],
    "activation_checkpointing_kwargs": {"use_reentrant": False},
    "ddp_find_unused_parameters": False,
}


def training_arguments(recipe: Recipe, folder: Path) -> Seq2SeqTrainingArguments:
    """Return transformers' arguments for ``recipe``; its ``training`` section wins over our defaults.

    Raises:
        RecipeError: If the section holds a key or value that transformers refuses.
    """
    settings = _DEFAULTS | {"seed": recipe.seed, "data_seed": recipe.seed, "output_dir": str(folder)}
    settings |= {"dataloader_num_workers": recipe.data.workers}
    settings |= {"dataloader_persistent_workers": recipe.data.cache and recipe.data.workers > 0}  # they hold the cache
    settings |= {"train_sampling_strategy": "group_by_length"} if recipe.data.trim else {}
    settings |= recipe.training | arguments_for(recipe)
    try:
        return Seq2SeqTrainingArguments(**settings)
    except (TypeError, ValueError) as error:
        raise RecipeError(f"training: {error}") from None


class SpeechTrainer(Seq2SeqTrainer):
    """Seq2SeqTrainer whose loss does not depend on how a batch is cut into micro-batches and processes."""

    def __init__(self, recipe: Recipe, start: Checkpoint, model: Any, folder: Path, say: Callable[[str], None]):
        """Wire ``model`` (made from ``start``) to the recipe's data and settings."""

        def dataset(path: str, augmentation: Augmentation | None = None, trim: bool = False) -> WindowDataset:
            return WindowDataset(Path(path), start, cache=recipe.data.cache, augmentation=augmentation, trim=trim)

        arguments = training_arguments(recipe, folder)
        self.recipe, self._keep, arguments.save_total_limit = recipe, arguments.save_total_limit, None
        super().__init__(
            model=model,
            args=arguments,
            train_dataset=dataset(recipe.data.train, recipe.data.augment, recipe.data.trim),
            eval_dataset=dataset(recipe.data.dev) if recipe.data.dev else None,
            data_collator=Collator(start.model.config.pad_token_id, untrimmed=recipe.data.untrimmed, seed=recipe.seed),
            compute_loss_func=ExactLoss(
                getattr(start.model, "ctc_head", None), recipe.model.ctc_weight, arguments.label_smoothing_factor
            ),
        )
        self.optimizer_cls_and_kwargs = zero.optimizer_of(recipe, arguments)
        for printer in (PrinterCallback, ProgressCallback):
            self.remove_callback(printer)
        self.add_callback(Curve(folder / "curve.jsonl", say))

    def create_accelerator_and_postprocess(self) -> None:
        """Meet the other processes; transformers calls this while it is made."""
        super().create_accelerator_and_postprocess()
        fsdp.shard_on_cpu(self)

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Write whole weights, or the whole adapter, however the model is cut; every process must ask."""
        weights = gathered(self)
        if weights is None:
            super().save_model(output_dir, _internal_call)
        else:
            self._save(output_dir or self.args.output_dir, state_dict=weights)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Save a checkpoint, look it over, mark it as whole when all have written their part, drop older ones."""
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        if self.args.should_save:
            (folder / MARK).unlink(missing_ok=True)
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            verify_tensors(folder)
            mark_whole(folder, self.recipe, self.args.world_size)
            drop_older(folder.parent, self._keep, self.state.best_model_checkpoint)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        """Return transformers' sampler, but for lengths: those it would find by loading every window first."""
        if self.args.train_sampling_strategy != "group_by_length":
            return super()._get_train_sampler(train_dataset)
        step = self.args.train_batch_size * self.args.gradient_accumulation_steps * self.args.world_size
        lengths = (self.train_dataset if train_dataset is None else train_dataset).durations.tolist()
        return LengthGroupedSampler(lengths, step, self.args.data_seed)


class Curve(TrainerCallback):
    """Writes every logged value to a JSONL file, and a line now and then to the log."""

    def __init__(self, path: Path, say: Callable[[str], None]):
        self.path, self.say = path, say
        self.began = time.monotonic()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Forget the steps that are going to be taken again because they came after the checkpoint we go on from."""
        if state.is_world_process_zero and self.path.exists():
            lines = self.path.read_text("utf-8").splitlines(keepends=True)
            self.path.write_text("".join(line for line in lines if _step(line) <= state.global_step), "utf-8")

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """Append what was logged."""
        if not state.is_world_process_zero or not logs:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": state.global_step, **logs}) + "\n")
        if "loss" in logs:
            elapsed = time.monotonic() - self.began
            left = elapsed / max(1, state.global_step) * (state.max_steps - state.global_step)
            self.say(f"step {state.global_step}/{state.max_steps}  loss {logs['loss']:.4f}  {left:.0f} s left")


def _step(line: str) -> float:
    """Return the step of a line of the curve; one that was cut off belongs to none."""
    try:
        return float(json.loads(line)["step"])
    except ValueError:
        return math.inf
