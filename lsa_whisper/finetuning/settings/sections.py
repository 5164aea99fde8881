"""Recipe sections for the adapter, the loss and the evaluation on the dev set; plain dataclasses without torch.

Each section reports its own ``problems``; :mod:`lsa_whisper.finetuning.recipe.conflicts` reports conflicts between
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from lsa_whisper.finetuning.settings.values import OneOf, Range

STACKS = ("both", "encoder", "decoder")
SECOND_STAGES = ("stack", "continue")
QUANTIZED = ("none", "8bit", "4bit")
MAX_WEIGHT = 1000
"""A term of the loss with a higher weight would leave nothing of the others."""
LAYERS = ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2")
"""The linear layers of Whisper's encoder and decoder layers."""
SCORES = ("wer_verbatim", "wer_fluent", "disfluency_f1")
"""Scores of the transcripts computed during training; keys of :data:`lsa_whisper.scoring.metrics.METRICS`."""

_TAKEN = (*SCORES, "loss", "dev", "out_of_domain", "runtime", "samples_per_second", "steps_per_second")
"""Names that curves have already."""


@dataclass(frozen=True)
class AdapterSettings:
    """LoRA (Hu et al. 2021): train low-rank updates of frozen weights."""

    rank: Annotated[int, Range(least=1)] = 32
    """Rank of the update. From 4 to 64 every rank converged to the same scores at its best learning rate, 3e-3 for 4
    and 8, 1e-3 above (docs/adapters.md, "Measured: LoRA rank"): raise the rate before the rank."""
    alpha: Annotated[float, Range(above=0), Range(most=10_000)] = 64.0
    """The update is scaled by alpha / rank, or by alpha / sqrt(rank) with ``rank_stabilized``."""
    dropout: Annotated[float, Range(least=0, below=1)] = 0.0
    """Dropout probability on the input of the update."""
    target_modules: tuple[Annotated[str, OneOf(*LAYERS)], ...] = ("q_proj", "v_proj", "out_proj")
    """The linear layers to adapt, by name; ``k_proj``, ``fc1`` and ``fc2`` are the others."""
    stacks: Annotated[str, OneOf(*STACKS)] = "both"
    """``both``, ``encoder`` or ``decoder``: where to adapt them."""
    dora: bool = False
    """Train magnitude and direction of the weights separately (DoRA, Liu et al. 2024). Slower."""
    rank_stabilized: bool = False
    """Scale by alpha / sqrt(rank) (rsLoRA, Kalajdzievski 2023), so that higher ranks do not learn more slowly."""
    token_embeddings: bool = False
    """Also train the embeddings of the tokens that occur in the labels. For a base that has never seen CHAT codes."""
    modules_to_save: tuple[str, ...] = ()
    """Modules that are trained in full and saved with the adapter, by the end of their name, such as ``layer_norm``."""
    second_stage: Annotated[str, OneOf(*SECOND_STAGES)] = "stack"
    """If ``model.base`` is an adapter, for example a group's before one speaker's: ``stack`` merges it into its base
    (once, in its folder ``merged``) and trains a new adapter on that; ``continue`` trains the same adapter further,
    with the rank and the targets that it has."""
    quantize: Annotated[str, OneOf(*QUANTIZED)] = "none"
    """``none``, ``8bit`` or ``4bit``: quantize the frozen base during training (QLoRA, Dettmers et al. 2023); needs
    bitsandbytes. Afterwards the adapter is merged into the unquantized base."""

    @property
    def copies_weights(self) -> bool:
        """Whether training starts from values of the base's weights, which then must be whole in memory."""
        return bool(self.dora or self.token_embeddings or self.modules_to_save)

    def problems(self) -> Iterator[str]:
        """Yield each problem, starting with its key."""
        if not self.target_modules:
            yield "target_modules: name at least one linear layer, such as q_proj"
        for name in self.modules_to_save:
            if not name.strip() or name in self.target_modules:
                fault = "is adapted already" if name.strip() else "is not the name of a module, such as layer_norm"
                yield f"modules_to_save: {name!r} {fault}; leave it out"
        if self.token_embeddings and "embed_tokens" in self.modules_to_save:
            yield "token_embeddings: modules_to_save trains all embeddings already; leave one of the two out"


@dataclass(frozen=True)
class LossSettings:
    """Terms added to the cross-entropy loss in training. The dev loss is always plain cross-entropy."""

    disfluency_weight: Annotated[float, Range(least=0), Range(most=MAX_WEIGHT)] = 1.0
    """Weight of label tokens that belong to a disfluency (filled pause, word fragment, retraced word, code of the
    ``chat`` style), relative to other tokens; above 1 if disfluencies are rare. In ``verbatim`` labels only filled
    pauses and word fragments can be recognized. The loss is divided by the number of tokens, not by their weights."""
    kl_to_base: Annotated[float, Range(least=0), Range(most=MAX_WEIGHT)] = 0.0
    """Weight of the divergence KL(base || model) on tokens that are not part of a disfluency, which keeps the output
    for fluent speech close to the base's. Costs a second forward pass and, without an adapter, a frozen copy of the
    base."""

    alignment_weight: Annotated[float, Range(least=0), Range(most=MAX_WEIGHT)] = 0.0
    """Weight of the alignment loss, which teaches the alignment heads when each word is spoken (one minus the cosine
    between their attention and the word's time, as for CrisperWhisper, Wagner et al. 2024), so that ``transcribe
    --wor`` writes better word times. Needs transcripts with ``%wor``, such as ``lsa-whisper align`` writes. The
    demo's recipes have 1 in full and 0.3 with LoRA, where 1 cost words."""

    @property
    def needs_disfluency_mask(self) -> bool:
        """Whether the loss depends on which tokens belong to a disfluency."""
        return self.disfluency_weight != 1 or self.kl_to_base > 0


@dataclass(frozen=True)
class EvaluationSettings:
    """Evaluation on the dev set (``data.dev``) during training: its loss, and scores of the model's transcripts."""

    every_steps: Annotated[int, Range(least=1)] = 500
    """Optimizer steps between evaluations. With ``keep_best`` a checkpoint is saved at each."""
    generate: bool = True
    """Transcribe the windows and score the text. Without it only the loss is computed, which is faster."""
    max_windows: Annotated[int | None, Range(least=1)] = 200
    """Evaluate this many windows of each dev set, spread evenly over the manifest; ``null`` for all. The log says
    before the run what an evaluation costs."""
    batch_size: Annotated[int, Range(least=1)] = 8
    """Windows decoded together on each rank."""
    metric: Annotated[str, OneOf(*SCORES, "loss")] = "wer_verbatim"
    """Metric that selects the best checkpoint: ``wer_verbatim``, ``wer_fluent``, ``disfluency_f1`` or ``loss``."""
    keep_best: bool = True
    """Finish with the weights of the best checkpoint instead of the last. If false, ``training`` sets when checkpoints
    are saved."""
    patience: Annotated[int | None, Range(least=1)] = None
    """Stop after this many evaluations without improvement (early stopping)."""
    out_of_domain: str | None = None
    """Manifest of an out-of-domain dev set. It is evaluated too, but does not affect the choice of the checkpoint."""
    dev_sets: dict[str, str] = field(default_factory=dict)
    """More dev sets: manifests by name, such as ``{children: build/children/dev.jsonl}``. Each is evaluated too and has
    its own curves; none affects the choice of the checkpoint."""
    samples: Annotated[int, Range(least=0)] = 4
    """Windows whose transcripts are written to ``samples.jsonl`` at each evaluation, with their references."""
    trackers: tuple[str, ...] = ()
    """Experiment trackers, such as ``tensorboard`` (its files stay in the run's folder). Some others upload the metrics
    to a server."""
    plot: bool = True
    """Plot the learning curves to ``curve.png`` at the end."""

    @property
    def other_sets(self) -> dict[str, str]:
        """Manifests of the dev sets besides ``data.dev``, by name."""
        return ({"out_of_domain": self.out_of_domain} if self.out_of_domain else {}) | self.dev_sets

    def problems(self) -> Iterator[str]:
        """Yield each problem, starting with its key."""
        if not self.generate and self.metric != "loss":
            yield f"metric: {self.metric} needs generate: true; without it only the loss is computed"
        for name in self.dev_sets:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", str(name)) or name in _TAKEN:
                yield f"dev_sets: {str(name)!r} is not a name of lowercase letters, digits and _, or is taken"
        if self.patience and not self.keep_best:
            yield "patience: needs keep_best: true; otherwise the run ends with the last weights, which are worse"


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
    adam_epsilon: Annotated[float, Range(least=1e-30), Range(most=1)] = 1e-8
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
