"""One trainer for every strategy: transformers' own, with the exact loss and a quiet, plain log."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, TrainerCallback
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from lsa_whisper.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.dataset import Collator, WindowDataset
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.loss import ExactLoss
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.finetune.strategy import arguments_for
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
        for printer in (PrinterCallback, ProgressCallback):
            self.remove_callback(printer)
        self.add_callback(Curve(folder / "curve.jsonl", say))

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
