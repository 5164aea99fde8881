"""One trainer for every strategy: transformers' own, with the exact loss and a quiet, plain log."""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import SequentialSampler
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, TrainerCallback
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from lsa_whisper import plain_json
from lsa_whisper.atomic_write import replace_file
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.saving import verify_tensors
from lsa_whisper.dataset import Collator, WindowDataset
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.distributed import zero
from lsa_whisper.finetune.distributed.strategy import gather_weights, strategy_arguments
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.finetune.training.dev_evaluation import SAMPLES, Watch, callbacks, saving_arguments, watch_arguments
from lsa_whisper.finetune.training.disfluency_mask import DISFLUENT, MarkingCollator
from lsa_whisper.finetune.training.kl_to_base import Base
from lsa_whisper.finetune.training.loss import ExactLoss, sums_and_counts
from lsa_whisper.finetune.training.optimizer import optimizer_arguments, optimizer_class
from lsa_whisper.finetune.training.precision import precision_arguments
from lsa_whisper.finetune.training.resume import MARK, drop_older, mark_whole, subject
from lsa_whisper.finetune.training.trim import LengthGroupedSampler
from lsa_whisper.library_internals import TrainerHooks, checkpointing_arguments, fsdp_on_cpu, use_one_gpu

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
    settings = checkpointing_arguments(_DEFAULTS) | {
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "output_dir": str(folder),
    }
    settings |= {"dataloader_num_workers": recipe.data.workers}
    settings |= {"dataloader_persistent_workers": recipe.data.cache and recipe.data.workers > 0}  # they hold the cache
    settings |= {"train_sampling_strategy": "group_by_length"} if recipe.data.trim else {}
    settings |= precision_arguments(recipe) | optimizer_arguments(recipe) | watch_arguments(recipe)
    # YAML reads a bare ``no`` as false, and every recipe is YAML.
    plain = {
        key: "no" if value is False and key.endswith("_strategy") else value for key, value in recipe.training.items()
    }
    settings |= checkpointing_arguments(plain) | saving_arguments(recipe) | strategy_arguments(recipe)
    if settings.get("push_to_hub"):
        raise RecipeError("training.push_to_hub: nothing is uploaded from here; upload the finished folder yourself")
    try:
        arguments = Seq2SeqTrainingArguments(**settings)
    except (TypeError, ValueError) as error:
        raise RecipeError(f"training: {error}") from None
    use_one_gpu(arguments)
    return arguments


def exact_loss(recipe: Recipe, start: Checkpoint, arguments: Seq2SeqTrainingArguments) -> ExactLoss:
    """Return the loss the recipe asks for."""
    return ExactLoss(
        getattr(start.model, "ctc_head", None),
        recipe.model.ctc_weight,
        recipe.loss.label_smoothing or arguments.label_smoothing_factor,
        recipe.loss.disfluency_weight,
        recipe.loss.kl_to_base,
    )


def _collator(recipe: Recipe, start: Checkpoint) -> Collator:
    pad, options = (
        start.model.config.pad_token_id,
        {"full_length_share": recipe.data.full_length_share, "seed": recipe.seed},
    )
    if recipe.loss.needs_disfluency_mask:
        return MarkingCollator(pad, start.tokenizer, start.labels, **options)
    return Collator(pad, **options)


def _plain_dev(recipe: Recipe, start: Checkpoint) -> WindowDataset | None:
    """Return the development set for whoever asks transformers itself to evaluate, by ``training.eval_strategy``."""
    return WindowDataset(Path(recipe.data.dev), start, cache=recipe.data.cache) if recipe.data.dev else None


class SpeechTrainer(TrainerHooks, Seq2SeqTrainer):
    """Seq2SeqTrainer whose loss does not depend on how a batch is cut into micro-batches and processes."""

    def __init__(self, recipe: Recipe, start: Checkpoint, model: Any, folder: Path, say: Callable[[str], None]):
        """Wire ``model`` (made from ``start``) to the recipe's data and settings."""
        self.recipe, self.subject = recipe, subject(recipe)  # now: the data may be prepared anew while they are read
        arguments = training_arguments(recipe, folder)
        self._keep, arguments.save_total_limit = arguments.save_total_limit, None
        train = WindowDataset(
            Path(recipe.data.train),
            start,
            cache=recipe.data.cache,
            augmentation=recipe.data.augment,
            trim=recipe.data.trim,
        )
        self.watch = Watch(recipe, start, train, folder) if recipe.evaluation and recipe.data.dev else None
        self.loss = exact_loss(recipe, start, arguments)
        super().__init__(
            model=model,
            args=arguments,
            train_dataset=train,
            eval_dataset=self.watch.dev if self.watch else _plain_dev(recipe, start),
            data_collator=_collator(recipe, start),
            compute_loss_func=self.loss,
            compute_metrics=self._scores if self.watch else None,
            callbacks=callbacks(recipe, folder),
        )
        self.optimizer_cls_and_kwargs = optimizer_class(recipe, arguments) or zero.cpu_adam(recipe, arguments)
        self.base = Base(self.model, arguments.device) if recipe.loss.kl_to_base else None
        for printer in (PrinterCallback, ProgressCallback):
            self.remove_callback(printer)
        self.add_callback(Curve(folder / "curve.jsonl", say))

    def create_accelerator_and_postprocess(self) -> None:
        """Meet the other processes; transformers calls this while it is made."""
        with fsdp_on_cpu(self):
            super().create_accelerator_and_postprocess()

    def gathered_weights(self) -> dict[str, Any] | None:
        """Return the gathered weights of a sharded model, or of its adapter; every process must call this."""
        return gather_weights(self)

    def save_checkpoint(self, save: Callable[[], None]) -> None:
        """Save a checkpoint, verify it, mark it as complete when all ranks have written their part, drop older ones."""
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        if self.args.should_save:
            (folder / MARK).unlink(missing_ok=True)
        save()
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            verify_tensors(folder)
            mark_whole(folder, self.recipe, self.args.world_size, self.subject)
            drop_older(folder.parent, self._keep, self.state.best_model_checkpoint)

    def run_epoch(self, run: Callable[[], None]) -> None:
        """Take no step after the last one: a run that was killed after its last checkpoint would take one more."""
        if self.state.global_step >= self.state.max_steps:
            self.control.should_training_stop = True
        else:
            run()

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return the recipe's loss; on the development set plain cross-entropy."""
        disfluent = inputs.pop(DISFLUENT, None)
        if not model.training:
            self.compute_loss_func = ExactLoss()
        else:
            base_logits = self.base.logits(self.accelerator.unwrap_model(model), inputs) if self.base else None
            self.compute_loss_func = functools.partial(self.loss, disfluent=disfluent, base_logits=base_logits)
        return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)

    def prepared_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return the batch in the type of the weights, where no autocast converts it later."""
        if self.recipe.precision == "pure-bf16":
            batch["input_features"] = batch["input_features"].to(torch.bfloat16)
        return batch

    def evaluate(self, eval_dataset: Any = None, *args: Any, **options: Any) -> dict[str, float]:
        """Return the scores of the development set, and beside them those of the manifest from elsewhere."""
        metrics = dict(super().evaluate(eval_dataset, *args, **options))
        if self.watch and self.watch.out_of_domain and eval_dataset is None:
            windows = self.get_eval_dataloader(self.watch.out_of_domain)
            found = self.evaluation_loop(windows, "Evaluation", metric_key_prefix="eval_out_of_domain").metrics
            self.log(found)
            metrics |= found
        return metrics

    def evaluation_loop(self, dataloader: Any, *args: Any, **options: Any) -> Any:
        """Evaluate; windows that processes were given twice, to be equally many, are counted once."""
        self.gather_function = self.accelerator.gather_for_metrics
        self.watched = dataloader.dataset
        return super().evaluation_loop(dataloader, *args, **options)

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], prediction_loss_only: bool, ignore_keys: Any = None, **options: Any
    ) -> tuple[Any, Any, Any]:
        """Return what the scores of a batch come from: summed losses, numbers of tokens, and what the model writes."""
        if self.watch is None:
            return super().prediction_step(model, inputs, prediction_loss_only, ignore_keys, **options)
        inputs = self.batch_on_device(inputs)
        inputs.pop(DISFLUENT, None)
        labels = inputs.pop("labels")
        with torch.no_grad(), self.compute_loss_context_manager():
            predictions = sums_and_counts(model(**inputs).logits, labels)
            if self.watch.settings.generate:
                predictions += (self.watch.writer.write(self.model, inputs, self.watched.longest),)
        return None, predictions, labels

    def _scores(self, found: Any) -> dict[str, float]:
        assert self.watch is not None
        step = self.state.global_step if self.is_world_process_zero() else None
        return self.watch.scores(self.watched, found.predictions, step)

    def eval_sampler(self, dataset: Any) -> Any:
        """Return the dev set in its own order; transformers would group it by length, too, and finds no lengths."""
        return SequentialSampler(dataset) if self.args.world_size <= 1 else None

    def train_sampler(self, dataset: Any, default: Callable[[], Any]) -> Any:
        """Return transformers' sampler, except for lengths: it would load every window to find them."""
        if self.args.train_sampling_strategy != "group_by_length":
            return default()
        step = self.args.train_batch_size * self.args.gradient_accumulation_steps * self.args.world_size
        lengths = (self.train_dataset if dataset is None else dataset).durations.tolist()
        return LengthGroupedSampler(lengths, step, self.args.data_seed)


class Curve(TrainerCallback):
    """Writes every logged value to a JSONL file, and a line now and then to the log."""

    def __init__(self, path: Path, say: Callable[[str], None]):
        self.path, self.say = path, say
        self.began, self.first_step = time.monotonic(), 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Forget the steps that are going to be taken again because they came after the checkpoint we go on from."""
        self.began, self.first_step = time.monotonic(), state.global_step
        for path in (self.path, self.path.with_name(SAMPLES)) if state.is_world_process_zero else ():
            if path.exists():
                lines = path.read_text("utf-8").splitlines(keepends=True)
                replace_file(
                    "".join(line for line in lines if _step(line) <= state.global_step and not _sums_up(line)), path
                )

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """Append what was logged."""
        if not state.is_world_process_zero or not logs:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": state.global_step, **logs}) + "\n")
        if "loss" in logs:
            elapsed = time.monotonic() - self.began
            left = elapsed / max(1, state.global_step - self.first_step) * (state.max_steps - state.global_step)
            self.say(f"step {state.global_step}/{state.max_steps}  loss {logs['loss']:.4f}  {left:.0f} s left")
        elif found := {name[5:]: value for name, value in logs.items() if name.startswith("eval_") and _tells(name)}:
            self.say(
                f"step {state.global_step}/{state.max_steps}  " + "  ".join(f"{k} {v:.4f}" for k, v in found.items())
            )


def _tells(name: str) -> bool:
    """Whether a value logged by an evaluation is about the model, and not about how fast it was evaluated."""
    return not name.endswith(("runtime", "per_second"))


def _sums_up(line: str) -> bool:
    """Tell whether a line of the curve is the one that ends it."""
    return '"train_runtime"' in line


def _step(line: str) -> float:
    """Return the step of a line of the curve; one that was cut off belongs to none."""
    try:
        return float(plain_json.parse(line)["step"])
    except (ValueError, TypeError, KeyError, OverflowError):
        return math.inf
