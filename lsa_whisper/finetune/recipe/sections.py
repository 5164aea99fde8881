"""Recipe sections for the adapter, the loss and the evaluation on the dev set; plain dataclasses without torch.

Each section reports its own ``problems``; :mod:`lsa_whisper.finetune.recipe.conflicts` reports conflicts between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

STACKS = ("both", "encoder", "decoder")
QUANTIZED = ("none", "8bit", "4bit")
SCORES = ("wer_verbatim", "wer_fluent", "disfluency_f1")
"""Scores of the transcripts computed during training; keys of :data:`lsa_whisper.scoring.metrics.METRICS`."""


@dataclass(frozen=True)
class AdapterSettings:
    """LoRA (Hu et al. 2021): train low-rank updates of frozen weights."""

    rank: int = 32
    """Rank of the update. Below 10, adapting Whisper to disfluent labels has been observed not to converge."""
    alpha: float = 64.0
    """The update is scaled by alpha / rank, or by alpha / sqrt(rank) with ``rank_stabilized``."""
    dropout: float = 0.0
    """Dropout probability on the input of the update."""
    target_modules: tuple[str, ...] = ("q_proj", "v_proj", "out_proj")
    """The linear layers to adapt, by name; ``k_proj``, ``fc1`` and ``fc2`` are the others."""
    stacks: str = "both"
    """``both``, ``encoder`` or ``decoder``: where to adapt them."""
    dora: bool = False
    """Train magnitude and direction of the weights separately (DoRA, Liu et al. 2024). Slower."""
    rank_stabilized: bool = False
    """Scale by alpha / sqrt(rank) (rsLoRA, Kalajdzievski 2023), so that higher ranks do not learn more slowly."""
    token_embeddings: bool = False
    """Also train the embeddings of the tokens that occur in the labels. For a base that has never seen CHAT codes."""
    modules_to_save: tuple[str, ...] = ()
    """Modules that are trained in full and saved with the adapter, by the end of their name, such as ``layer_norm``."""
    quantize: str = "none"
    """``none``, ``8bit`` or ``4bit``: quantize the frozen base during training (QLoRA, Dettmers et al. 2023); needs
    bitsandbytes. Afterwards the adapter is merged into the unquantized base."""

    def problems(self) -> Iterator[str]:
        """Yield each problem, starting with its key."""
        if self.rank < 1:
            yield f"rank: must be 1 or more, not {self.rank}"
        if self.alpha <= 0:
            yield f"alpha: must be more than 0, not {self.alpha:g}"
        if not 0 <= self.dropout < 1:
            yield f"dropout: must be at least 0 and below 1, not {self.dropout:g}"
        if not self.target_modules:
            yield "target_modules: name at least one linear layer, such as q_proj"
        if self.stacks not in STACKS:
            yield f"stacks: must be one of {', '.join(STACKS)}, not {self.stacks!r}"
        if self.quantize not in QUANTIZED:
            yield f"quantize: must be one of {', '.join(QUANTIZED)}, not {self.quantize!r}"


@dataclass(frozen=True)
class LossSettings:
    """Terms added to the cross-entropy loss in training. The dev loss is always plain cross-entropy."""

    label_smoothing: float = 0.0
    """Share of the target probability that is spread over the whole vocabulary."""
    disfluency_weight: float = 1.0
    """Weight of label tokens that belong to a disfluency (filled pause, word fragment, retraced word, code of the
    ``chat`` style), relative to other tokens; above 1 if disfluencies are rare. In ``verbatim`` labels only filled
    pauses and word fragments can be recognized. The loss is divided by the number of tokens, not by their weights."""
    kl_to_base: float = 0.0
    """Weight of the divergence KL(base || model) on tokens that are not part of a disfluency, which keeps the output
    for fluent speech close to the base's. Costs a second forward pass and, without an adapter, a frozen copy of the
    base."""

    @property
    def needs_disfluency_mask(self) -> bool:
        """Whether the loss depends on which tokens belong to a disfluency."""
        return self.disfluency_weight != 1 or self.kl_to_base > 0

    def problems(self) -> Iterator[str]:
        """Yield each problem, starting with its key."""
        if not 0 <= self.label_smoothing < 1:
            yield f"label_smoothing: must be at least 0 and below 1, not {self.label_smoothing:g}"
        if self.disfluency_weight < 0:
            yield f"disfluency_weight: must be 0 or more, not {self.disfluency_weight:g}"
        if self.kl_to_base < 0:
            yield f"kl_to_base: must be 0 or more, not {self.kl_to_base:g}"


@dataclass(frozen=True)
class EvaluationSettings:
    """Evaluation on the dev set (``data.dev``) during training: its loss, and scores of the model's transcripts."""

    every_steps: int = 500
    """Optimizer steps between evaluations. With ``keep_best`` also the steps between checkpoints, in place of
    ``training.save_steps``."""
    generate: bool = True
    """Transcribe the windows and score the text. Without it only the loss is computed, which is faster."""
    max_windows: int | None = None
    """Evaluate this many windows, spread evenly over the manifest. Default: all."""
    batch_size: int = 8
    """Windows decoded together on each rank."""
    metric: str = "wer_verbatim"
    """Metric that selects the best checkpoint: ``wer_verbatim``, ``wer_fluent``, ``disfluency_f1`` or ``loss``."""
    keep_best: bool = True
    """Finish with the weights of the best checkpoint instead of the last. If false, ``training`` sets when checkpoints
    are saved."""
    patience: int | None = None
    """Stop after this many evaluations without improvement (early stopping)."""
    out_of_domain: str | None = None
    """Manifest of an out-of-domain dev set. It is evaluated too, but does not affect the choice of the checkpoint."""
    samples: int = 4
    """Windows whose transcripts are written to ``samples.jsonl`` at each evaluation, with their references."""
    trackers: tuple[str, ...] = ()
    """Experiment trackers, such as ``tensorboard`` (its files stay in the run's folder). Some others upload the metrics
    to a server."""
    plot: bool = True
    """Plot the learning curves to ``curve.png`` at the end."""

    def problems(self) -> Iterator[str]:
        """Yield each problem, starting with its key."""
        if self.metric not in (*SCORES, "loss"):
            yield f"metric: must be one of {', '.join((*SCORES, 'loss'))}, not {self.metric!r}"
        elif not self.generate and self.metric != "loss":
            yield f"metric: {self.metric} needs generate: true; without it only the loss is computed"
        for name in ("every_steps", "batch_size", "max_windows", "patience"):
            number = getattr(self, name)
            if number is not None and number < 1:
                yield f"{name}: must be 1 or more, not {number}"
        if self.samples < 0:
            yield f"samples: must be 0 or more, not {self.samples}"
        if self.patience and not self.keep_best:
            yield "patience: needs keep_best: true; otherwise the run ends with the last weights, which are worse"
