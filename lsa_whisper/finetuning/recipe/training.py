"""The recipe's ``training`` section: how long, how fast and in which batches the weights are trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from lsa_whisper.finetuning.recipe.limits import OneOf, Range

SCHEDULES = (
    "linear",
    "cosine",
    "cosine_with_restarts",
    "polynomial",
    "constant",
    "constant_with_warmup",
    "inverse_sqrt",
    "cosine_with_min_lr",
    "warmup_stable_decay",
)
"""Learning rate schedules that need no function of the caller's."""
_MANY = 1_000_000
"""More epochs or micro-batches of a step than any run has."""
SAVING = ("auto", "steps", "epoch", "no")


@dataclass(frozen=True)
class TrainingSettings:
    """Batches, length, learning rate and checkpoints of a run; the names are those of transformers."""

    per_device_train_batch_size: Annotated[int, Range(least=1)] = 8
    """Windows that each process trains on at once (micro-batch)."""
    gradient_accumulation_steps: Annotated[int, Range(least=1), Range(most=_MANY)] = 1
    """Micro-batches per optimizer step. A step sees this number times ``per_device_train_batch_size`` times the number
    of processes; the loss does not depend on how the windows of a step are divided."""
    num_train_epochs: Annotated[float, Range(above=0), Range(most=_MANY)] = 3.0
    """Passes over the training windows; not used with ``max_steps``."""
    max_steps: Annotated[int | None, Range(least=1), Range(most=1000 * _MANY)] = None
    """Optimizer steps, in place of ``num_train_epochs``."""
    learning_rate: Annotated[float, Range(least=0)] = 5e-5
    """Highest learning rate. Full fine-tuning of large models takes about 1e-5, a LoRA of a Whisper
    about 3e-4: at 1e-3, few minutes of real speech teach it to repeat itself."""
    lr_scheduler_type: Annotated[str, OneOf(*SCHEDULES)] = "linear"
    """How the learning rate changes after the warm-up."""
    lr_scheduler_kwargs: dict[str, Any] = field(default_factory=dict)
    """Further settings of the schedule, such as ``min_lr`` of ``cosine_with_min_lr``."""
    warmup_steps: Annotated[float, Range(least=0)] = 0.0
    """Steps in which the learning rate rises from 0; below 1, their share of all steps."""
    weight_decay: Annotated[float, Range(least=0), Range(most=10)] = 0.0
    """Weight decay of AdamW; biases and layer norms have none."""
    adam_beta1: Annotated[float, Range(least=0, below=1)] = 0.9
    """Decay of AdamW's first moment."""
    adam_beta2: Annotated[float, Range(least=0, below=1)] = 0.999
    """Decay of AdamW's second moment."""
    adam_epsilon: Annotated[float, Range(above=0), Range(most=1)] = 1e-8
    """Added to the denominator of AdamW's update."""
    ema_decay: Annotated[float | None, Range(above=0, below=1)] = None
    """Keep an exponential moving average of the trained weights (EMA) with this decay, such as 0.999; it is what is
    evaluated and saved. Default: none. With ``single`` and ``ddp``; takes 4 bytes per trained weight."""
    base_share: Annotated[float, Range(least=0, below=1)] = 0.0
    """Share of the base's weights in the finished model (WiSE-FT, Wortsman et al. 2022): it keeps more of what the base
    knew. ``finetune FOLDER`` sets 0.5 for little data. Evaluation during training is without it."""
    max_grad_norm: Annotated[float | None, Range(least=0)] = None
    """Gradients are clipped to this norm; 0 for no clipping. Default: 1, or 0 with the optimizer ``adamw-cpu``."""
    loss_scale: Annotated[float, Range(above=0), Range(most=2**32)] = 65536.0
    """With ``precision: fp16``: what the loss is first multiplied by, so that small gradients are not 0 in 16 bits. A
    step that overflows is skipped and halves it. Lower it if a run begins with many such steps."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass (activation checkpointing): less memory, about a third more time."""
    use_cpu: bool = False
    """Train on the CPU even if there is a GPU."""
    logging_steps: Annotated[int, Range(least=1)] = 25
    """Steps between the losses in the log and in ``curve.jsonl``."""
    save_strategy: Annotated[str, OneOf(*SAVING)] = "auto"
    """When to save a checkpoint that a stopped run resumes from. ``auto``: after the first step, then so often that at
    most about ten minutes of training are lost and that saving takes a small share of the time, and after the last
    step; with an optimizer on NVMe never, since no run resumes from it. ``steps``: every ``save_steps``. ``epoch``:
    after each epoch. ``no``: never. With ``evaluation.keep_best``, also at each evaluation."""
    save_steps: Annotated[int | None, Range(least=1)] = None
    """Steps between checkpoints; sets ``save_strategy: steps``, whose default is 500."""
    save_total_limit: Annotated[int, Range(least=1)] = 1
    """Checkpoints kept, besides the best one; older ones are removed."""

    @property
    def effective_batch(self) -> int:
        """Windows of an optimizer step in each process."""
        return self.per_device_train_batch_size * self.gradient_accumulation_steps

    @property
    def saving(self) -> str:
        """When checkpoints are saved: ``save_strategy``, or ``steps`` if only ``save_steps`` is set."""
        return "steps" if self.save_strategy == "auto" and self.save_steps is not None else self.save_strategy
