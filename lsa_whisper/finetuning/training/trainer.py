"""One trainer for every strategy: transformers' own, with the exact loss, dev evaluation and complete checkpoints."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.data import SequentialSampler
from transformers import Seq2SeqTrainer
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.saving import verify_tensors
from lsa_whisper.dataset import TOKEN_SPANS_S
from lsa_whisper.decoding.cross_attention import alignment_heads
from lsa_whisper.finetuning.distributed.division import Division, gather_weights, load_whole_state, whole_state_saved
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.strategies.fsdp2 import reduce_in_fp32
from lsa_whisper.finetuning.training.arguments import optimizer_class, training_arguments
from lsa_whisper.finetuning.training.callbacks import CURVE, CheckpointSchedule, CurveLogger
from lsa_whisper.finetuning.training.dev_evaluation import DevEvaluation, evaluation_callbacks
from lsa_whisper.finetuning.training.loss import AlignmentLoss, ExactLoss, FrozenBase, loss_sums_and_counts
from lsa_whisper.finetuning.training.precision import FiniteSteps, LossScale
from lsa_whisper.finetuning.training.resume import MARK, mark_complete, run_identity
from lsa_whisper.finetuning.training.samplers import WindowSampler
from lsa_whisper.finetuning.training.saving import WeightAverage
from lsa_whisper.finetuning.training.training_data import (
    DISFLUENCY_MASK,
    training_collator,
    training_windows,
    window_sampler,
)
from lsa_whisper.system.library_internals import (
    TrainerHooks,
    fsdp_on_cpu,
    gather_once,
    inner_optimizer,
    rotate_checkpoints,
    share_batches,
)
from lsa_whisper.system.umask import share_by_umask


def recipe_loss(recipe: Recipe, start: Checkpoint) -> ExactLoss:
    """Return the loss with the terms that the recipe sets."""
    weight = recipe.loss.alignment_weight
    return ExactLoss(
        getattr(start.model, "ctc_head", None),
        recipe.model.ctc_weight,
        recipe.loss.disfluency_weight,
        recipe.loss.kl_to_base,
        AlignmentLoss(start.model, alignment_heads(start.model), start.time_precision_s) if weight else None,
        weight,
    )


def _stage_loss(
    loss: ExactLoss, items: torch.Tensor | float, logits: torch.Tensor, part: Mapping[str, torch.Tensor]
) -> torch.Tensor:
    """Return the loss of a part of a batch at the last stage; ``items``: label tokens of the optimizer step."""
    return loss(SimpleNamespace(logits=logits), part["labels"], items, disfluency_mask=part.get(DISFLUENCY_MASK))


class SpeechTrainer(TrainerHooks, Seq2SeqTrainer):
    """Seq2SeqTrainer whose loss does not depend on the split of a batch into micro-batches and ranks."""

    def __init__(
        self,
        recipe: Recipe,
        start: Checkpoint,
        model: Any,
        folder: Path,
        report: Callable[[str], None],
        division: Division | None = None,
    ):
        """Set up training of ``model``, which was made from ``start``, with the recipe's data and settings.

        ``division`` tells how its layers are divided among ranks.
        """
        self.mesh = division.mesh if division else None
        self.pipeline = division.pipeline if division else None
        self.recipe, self.identity = recipe, run_identity(recipe)  # now: the data may change during training
        arguments = training_arguments(recipe, folder)
        train = training_windows(recipe, start)
        settings = recipe.evaluation
        self.dev_evaluation = DevEvaluation(recipe, settings, start, train, folder) if settings else None
        self.loss = recipe_loss(recipe, start)
        self.sampler: WindowSampler | None = None
        self.finite = FiniteSteps(recipe, folder, report)
        super().__init__(
            model=model,
            args=arguments,
            train_dataset=train,
            eval_dataset=self.dev_evaluation.dev if self.dev_evaluation else None,
            data_collator=training_collator(recipe, start),
            compute_loss_func=self.loss,
            compute_metrics=self._scores if self.dev_evaluation else None,
            callbacks=evaluation_callbacks(recipe, folder),
        )
        if dtype := strategy_of(recipe).computes_in(recipe):  # the trainer takes the model for one in fp32
            self.compute_loss_context_manager = functools.partial(
                torch.autocast, arguments.device.type, getattr(torch, dtype)
            )
        own_optimizer = optimizer_class(recipe, arguments)
        self.optimizer_cls_and_kwargs = own_optimizer or strategy_of(recipe).optimizer_class(recipe, arguments)
        self.base = FrozenBase(self.model, arguments.device) if recipe.loss.kl_to_base else None
        decay = recipe.training.ema_decay
        self.average = WeightAverage(self.model, decay) if decay is not None else None
        if self.average:
            self.add_callback(self.average)
        for printer in (PrinterCallback, ProgressCallback):
            self.remove_callback(printer)
        self.add_callback(CurveLogger(folder / CURVE, report))
        self.add_callback(self.finite)
        if recipe.precision == "fp16":
            self.add_callback(LossScale(recipe, self))
        self.schedule = CheckpointSchedule(recipe, self.accelerator)
        self.add_callback(self.schedule)

    def create_accelerator_and_postprocess(self) -> None:
        """Initialize the process group; called by transformers' constructor."""
        if self.args.fsdp_plugin_args is not None:
            reduce_in_fp32(self.args.fsdp_plugin_args, self.recipe.precision)
        with fsdp_on_cpu(self):
            super().create_accelerator_and_postprocess()
        if self.mesh is not None:
            share_batches(self.accelerator, self.mesh)
        if self.pipeline is not None:
            self.pipeline.stage.autocast = self.accelerator.autocast
            self.accelerator.clip_grad_norm_ = self.pipeline.clip_gradients
        self.accelerator.clip_grad_norm_ = self.finite.recorded_norm(self.accelerator.clip_grad_norm_)

    def create_optimizer(self, *args: Any, **options: Any) -> Any:
        """Return the optimizer; that of a divided model loads and saves whole moments."""
        optimizer = super().create_optimizer(*args, **options)
        if self.mesh is not None:
            load_whole_state(optimizer)
        return optimizer

    def gathered_weights(self) -> dict[str, Any] | None:
        """Return the gathered weights of a sharded model, or of its adapter; every rank must call this."""
        return gather_weights(self)

    def save_checkpoint(self, save: Callable[[], None]) -> None:
        """Save a checkpoint, verify it, mark it as complete when all ranks have written it, remove older ones."""
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        began = time.monotonic()
        if self.args.should_save:
            (folder / MARK).unlink(missing_ok=True)
        with whole_state_saved(inner_optimizer(self.optimizer)) if self.mesh else contextlib.nullcontext():
            save()
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            if self.average:
                self.average.save(folder)
            verify_tensors(folder)
            share_by_umask(folder)
            mark_complete(folder, self.recipe, self.args.world_size, self.identity)
            keep, best = self.recipe.training.save_total_limit, self.state.best_model_checkpoint
            rotate_checkpoints(str(folder.parent), keep=keep, best=best)
        self.schedule.saved(time.monotonic() - began)

    def run_epoch(self, epoch: int, run: Callable[[], None]) -> None:
        """Take no step after the last one; a run that was killed after its last checkpoint would take one more.

        accelerate does not tell the sampler the epoch where several ranks skip the batches before a checkpoint.
        """
        if self.sampler is not None:
            self.sampler.set_epoch(epoch)
        if self.state.global_step >= self.state.max_steps:
            self.control.should_training_stop = True
        else:
            run()

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return the recipe's loss; on the dev set plain cross-entropy."""
        mask, spans_s = inputs.pop(DISFLUENCY_MASK, None), inputs.pop(TOKEN_SPANS_S, None)
        loss: Callable[..., torch.Tensor] = ExactLoss()
        if model.training:
            base_logits = self.base.logits(self.accelerator.unwrap_model(model), inputs) if self.base else None
            if self.loss.alignment is not None:
                self.loss.alignment.start_step()
            loss = functools.partial(self.loss, disfluency_mask=mask, base_logits=base_logits, token_spans_s=spans_s)
        self.compute_loss_func = loss
        return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)

    def training_step(self, model: Any, inputs: dict[str, Any], num_items_in_batch: Any = None) -> torch.Tensor:
        """Add the gradients of a batch to those of the weights; return its loss."""
        if self.pipeline is None:
            loss = self.finite.add_loss(super().training_step(model, inputs, num_items_in_batch))
            if self.recipe.steps_in_backward:
                self.finite.norm = inner_optimizer(self.optimizer).gradient_norm()
            return loss
        model.train()
        # transformers adds up the tokens of all ranks, which have the same windows here.
        items = num_items_in_batch / (self.args.world_size if self.args.average_tokens_across_devices else 1)
        loss = self.pipeline.train(self.batch_on_device(inputs), functools.partial(_stage_loss, self.loss, items))
        if self.accelerator.sync_gradients:
            self.pipeline.share_tied_gradients()
        return self.finite.add_loss(loss)

    def prepared_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return the batch in the type of the weights, where no autocast converts it later."""
        if self.recipe.precision == "pure-bf16":
            batch["input_features"] = batch["input_features"].to(torch.bfloat16)
        return batch

    def evaluate(self, eval_dataset: Any = None, *args: Any, **options: Any) -> dict[str, float]:
        """Return the scores of the dev set and of the other dev sets, with the averaged weights if there are any."""
        with self.average.applied() if self.average else contextlib.nullcontext():
            metrics = dict(super().evaluate(eval_dataset, *args, **options))
            dev_sets = self.dev_evaluation.others if self.dev_evaluation and eval_dataset is None else {}
            for name, windows in dev_sets.items():
                loader = self.get_eval_dataloader(windows)
                scores = self.evaluation_loop(loader, "Evaluation", metric_key_prefix=f"eval_{name}").metrics
                self.log(scores)
                metrics |= scores
        return metrics

    def finish_average(self) -> None:
        """Give the model the averaged weights for good: those of the best checkpoint if that one is kept."""
        if self.average is None:
            return
        best = self.state.best_model_checkpoint
        if best and self.args.load_best_model_at_end:
            self.average.load(Path(best))
        self.average.copy_to_model()

    def evaluation_loop(self, dataloader: Any, *args: Any, **options: Any) -> Any:
        """Evaluate; windows that were duplicated to give every rank the same number count once."""
        self.gather_function = self.accelerator.gather_for_metrics
        if self.mesh is not None:
            self.gather_function = functools.partial(gather_once, self.accelerator, self.mesh["tp"].size())
        self.evaluated = dataloader.dataset
        return super().evaluation_loop(dataloader, *args, **options)

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], prediction_loss_only: bool, ignore_keys: Any = None, **options: Any
    ) -> tuple[Any, Any, Any]:
        """Return the summed losses, token counts and decoded tokens of a batch."""
        if self.dev_evaluation is None:
            plain: tuple[Any, Any, Any]
            plain = super().prediction_step(model, inputs, prediction_loss_only, ignore_keys, **options)
            return plain
        inputs = self.batch_on_device(inputs)
        inputs.pop(DISFLUENCY_MASK, None)
        labels, durations_s = inputs.pop("labels"), inputs.pop("durations_s")
        with torch.no_grad(), self.compute_loss_context_manager():
            if self.pipeline is not None:
                predictions = self.pipeline.evaluate(inputs | {"labels": labels}, loss_sums_and_counts)
            else:
                predictions = loss_sums_and_counts(model(**inputs).logits, labels)
            predictions += self.dev_evaluation.decode(self.model, inputs | {"durations_s": durations_s})
        return None, predictions, labels

    def _scores(self, output: Any) -> dict[str, float]:
        assert self.dev_evaluation is not None
        step = self.state.global_step if self.is_world_process_zero() else None
        return self.dev_evaluation.scores(self.evaluated, output.predictions, step)

    def eval_sampler(self, dataset: Any) -> Any:
        """Return the dev set in its own order; transformers would group it by length, too, and finds no lengths."""
        return SequentialSampler(dataset) if self.args.world_size <= 1 else None

    def train_sampler(self, dataset: Any, default: Callable[[], Any]) -> Any:
        """Return transformers' sampler, except for lengths: it would load every window to find them."""
        windows = self.train_dataset if dataset is None else dataset
        self.sampler = window_sampler(self.recipe, windows, self.args)
        return default() if self.sampler is None else self.sampler
