"""A recipe: everything that defines one fine-tuning run. Paths are relative to the current folder."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Annotated, Any

from lsa_whisper.finetuning.settings.run import (
    DataSettings,
    FsdpSettings,
    ModelSettings,
    OffloadSettings,
    PipelineSettings,
    RunSettings,
)
from lsa_whisper.finetuning.settings.sections import AdapterSettings, EvaluationSettings, LossSettings, TrainingSettings
from lsa_whisper.finetuning.settings.values import OneOf, Range
from lsa_whisper.finetuning.strategies import STRATEGIES, strategy_of

PRECISIONS = ("fp32", "bf16", "fp16", "auto", "pure-bf16", "fp8")
OPTIMIZERS = ("adamw", "adafactor", "adamw-8bit", "adamw-cpu")


@dataclass(frozen=True)
class Recipe(RunSettings):
    """Everything that defines one fine-tuning run."""

    data: DataSettings
    """Training and dev data."""
    out: str
    """Folder for the finished checkpoint."""
    model: ModelSettings
    """The model to train."""
    adapter: AdapterSettings | None = None
    """Train a LoRA adapter instead of the model's weights."""
    strategy: Annotated[str, OneOf(of=STRATEGIES)] = "single"
    """``single``, ``ddp``, ``zero2``, ``zero3``, ``fsdp2``, ``tensor_parallel`` or ``pipeline``."""
    tensor_parallel: Annotated[int | None, Range(least=2)] = None
    """With strategy ``tensor_parallel``: ranks that share each layer and compute on the same windows, by default all.
    With more ranks, FSDP2 shards each one's part over the others: 2 on 4 ranks is 2 x 2."""
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    """Only with ``pipeline``."""
    offload: OffloadSettings = field(default_factory=OffloadSettings)
    """Only with ``zero2``, ``zero3`` and ``fsdp2``."""
    fsdp: FsdpSettings = field(default_factory=FsdpSettings)
    """Only with ``fsdp2``."""
    deepspeed: dict[str, Any] = field(default_factory=dict)
    """Entries of a DeepSpeed configuration, merged into the one that ``zero2`` and ``zero3`` generate."""
    auto_micro_batch: bool = False
    """On running out of memory, resume from the last checkpoint with a smaller ``per_device_train_batch_size`` and
    proportionally more gradient accumulation; the effective batch size stays the same. Only with one process (strategy
    ``single``)."""
    loss: LossSettings = field(default_factory=LossSettings)
    """Terms added to the cross-entropy loss."""
    evaluation: EvaluationSettings | None = None
    """Evaluate on the dev set during training."""
    precision: Annotated[str, OneOf(*PRECISIONS)] = "fp32"
    """``fp32``; ``auto``: ``bf16`` on a GPU that computes in it itself, ``fp16`` on an older one (V100, T4, P100, RTX
    20), ``fp32`` without a GPU; ``bf16`` or ``fp16``: mixed precision (autocast) with fp32 weights; ``pure-bf16``:
    weights in bf16 too, changed with stochastic rounding as soon as their gradient is known, for strategy ``single``
    without gradient accumulation; with an adapter, only the frozen weights; ``fp8``: 8-bit matrix products, on GPUs
    that support them."""
    optimizer: Annotated[str, OneOf(*OPTIMIZERS)] = "adamw"
    """``adamw``. To save GPU memory: ``adafactor``, ``adamw-8bit`` (bitsandbytes) or ``adamw-cpu`` (torchao: optimizer
    state and step on the CPU, for one GPU)."""
    seed: Annotated[int, Range(least=0, most=2**32 - 1)] = 0
    """Random seed for initial weights, dropout and the order of the data."""
    training: TrainingSettings = field(default_factory=TrainingSettings)
    """Batches, length, learning rate and checkpoints."""
    trainer_args: dict[str, Any] = field(default_factory=dict)
    """Further arguments for transformers' ``Seq2SeqTrainingArguments``: those that no other setting covers."""

    @property
    def checkpoints_on_disk(self) -> int:
        """Checkpoints on disk at the same time: those that are kept, the best one, and the one being written."""
        keeps_best = self.evaluation is not None and self.evaluation.keep_best
        cannot_resume = self.training.saving == "auto" and not self.can_resume
        if not keeps_best and (self.training.saving == "no" or cannot_resume):
            return 0
        return self.training.save_total_limit + 1 + keeps_best

    def window_ranks(self, processes: int) -> int:
        """Return how many of ``processes`` ranks have windows of their own in a step."""
        return strategy_of(self).window_ranks(self, processes)

    @property
    def steps_in_backward(self) -> bool:
        """Whether each weight is changed as soon as its gradient is known, so that none are kept."""
        return self.precision == "pure-bf16" and self.adapter is None

    @property
    def can_resume(self) -> bool:
        """Whether a stopped run can be resumed: DeepSpeed does not restore optimizer state from NVMe."""
        return "nvme" not in (self.offload.optimizer, self.offload.parameters)


def recipe_values(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as the values that a JSON file holds."""
    values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(recipe)))
    return values
