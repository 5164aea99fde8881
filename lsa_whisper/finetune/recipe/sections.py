"""Sections of a recipe that say how to adapt, what to punish and when to look: plain dataclasses, no torch here.

Each tells its own ``problems``; what contradicts another section is told by :mod:`lsa_whisper.finetune.recipe`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

PARTS = ("both", "encoder", "decoder")
QUANTIZED = ("none", "8bit", "4bit")
SCORES = ("wer_verbatim", "wer_fluent", "disfluency_f1")
"""What is scored of the transcripts while training; keys of :data:`lsa_whisper.scoring.metrics.METRICS`."""


@dataclass(frozen=True)
class Adapter:
    """LoRA (Hu et al. 2021): train small matrices beside frozen weights."""

    rank: int = 32
    """Rank of the update; below 10 Whisper's adaptation to disfluent labels has been seen not to converge."""
    alpha: float = 64.0
    """The update is scaled by alpha / rank, or by alpha / sqrt(rank) when ``rank_stabilized``."""
    dropout: float = 0.0
    """Dropout in front of the update."""
    targets: tuple[str, ...] = ("q_proj", "v_proj", "out_proj")
    """The linear layers that get one; ``k_proj``, ``fc1`` and ``fc2`` are the others."""
    parts: str = "both"
    """``both``, or ``encoder`` or ``decoder`` to adapt only the hearing or only the writing."""
    dora: bool = False
    """Train the size of each weight column apart from its direction (DoRA, Liu et al. 2024); slower."""
    rank_stabilized: bool = False
    """Scale by alpha / sqrt(rank) (Kalajdzievski 2023), so that a higher rank is not learned more slowly."""
    embeddings: bool = False
    """Train the embeddings of the labels' own tokens too: for a base that has never written CHAT's signs."""
    modules_to_save: tuple[str, ...] = ()
    """Modules trained whole and saved with the adapter, by the end of their name, such as ``layer_norm``."""
    quantize: str = "none"
    """Keep the frozen base in ``8bit`` or ``4bit`` numbers while training (QLoRA, Dettmers et al. 2023); needs
    bitsandbytes. The adapter is merged into the whole base afterwards."""

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, key first."""
        if self.rank < 1:
            yield f"rank: 1 or more, not {self.rank}"
        if self.alpha <= 0:
            yield f"alpha: more than 0, not {self.alpha:g}"
        if not 0 <= self.dropout < 1:
            yield f"dropout: from 0 up to 1, not {self.dropout:g}"
        if not self.targets:
            yield "targets: name at least one linear layer, such as q_proj"
        if self.parts not in PARTS:
            yield f"parts: one of {', '.join(PARTS)}, not {self.parts!r}"
        if self.quantize not in QUANTIZED:
            yield f"quantize: one of {', '.join(QUANTIZED)}, not {self.quantize!r}"


@dataclass(frozen=True)
class Loss:
    """What is added to plain cross-entropy in training; the loss on the development set is always the plain one."""

    smoothing: float = 0.0
    """Share of each target spread over the whole vocabulary."""
    disfluency_weight: float = 1.0
    """How much a label token that belongs to a disfluency (a filler, a cut-off or taken-back word, a sign of the
    ``chat`` style) counts against any other; above 1 for rare ones. In ``verbatim`` labels only fillers and cut-off
    words can be told. The loss is divided by the number of tokens, whatever they weigh."""
    stay_near_base: float = 0.0
    """Weight of the divergence KL(base || model) on the tokens that are no disfluency, so that fluent speech is written
    as before. Costs a second forward pass, and without an adapter a frozen copy of the base."""

    @property
    def tells_disfluencies(self) -> bool:
        """Whether the loss has to know which tokens belong to a disfluency."""
        return self.disfluency_weight != 1 or self.stay_near_base > 0

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, key first."""
        if not 0 <= self.smoothing < 1:
            yield f"smoothing: from 0 up to 1, not {self.smoothing:g}"
        if self.disfluency_weight < 0:
            yield f"disfluency_weight: 0 or more, not {self.disfluency_weight:g}"
        if self.stay_near_base < 0:
            yield f"stay_near_base: 0 or more, not {self.stay_near_base:g}"


@dataclass(frozen=True)
class Evaluation:
    """Looks at the development set (``data.dev``) while training: loss, and scores of what the model writes for it."""

    every: int = 500
    """Optimiser steps between two evaluations and, with ``keep_best``, between two saved checkpoints, whatever
    ``training.save_steps`` says."""
    generate: bool = True
    """Let the model transcribe the windows and score the text; without it only the loss is known, but sooner."""
    windows: int | None = None
    """Evaluate so many windows, spread evenly over the manifest, instead of all."""
    batch_size: int = 8
    """Windows heard together in each process."""
    metric: str = "wer_verbatim"
    """Decides which checkpoint is best: ``wer_verbatim``, ``wer_fluent``, ``disfluency_f1`` or ``loss``."""
    keep_best: bool = True
    """End with the best checkpoint's weights instead of the last. Without it ``training`` says when one is saved."""
    patience: int | None = None
    """Stop when so many evaluations in a row brought nothing better."""
    elsewhere: str | None = None
    """A second manifest, from another domain, evaluated beside it; it decides nothing."""
    samples: int = 4
    """How many windows' transcripts are written to ``samples.jsonl`` each time, beside their references."""
    trackers: tuple[str, ...] = ()
    """Programs that follow the curves, such as ``tensorboard`` (its files stay in the run's folder). Some others send
    them to a server."""
    plot: bool = True
    """Draw the curves to ``curve.png`` when training ends."""

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, key first."""
        if self.metric not in (*SCORES, "loss"):
            yield f"metric: one of {', '.join((*SCORES, 'loss'))}, not {self.metric!r}"
        elif not self.generate and self.metric != "loss":
            yield f"metric: {self.metric} needs generate: true; without it only the loss is known"
        for name in ("every", "batch_size", "windows", "patience"):
            number = getattr(self, name)
            if number is not None and number < 1:
                yield f"{name}: 1 or more, not {number}"
        if self.samples < 0:
            yield f"samples: 0 or more, not {self.samples}"
        if self.patience and not self.keep_best:
            yield "patience: needs keep_best: true, so that the run does not end with the worse weights it stopped at"
