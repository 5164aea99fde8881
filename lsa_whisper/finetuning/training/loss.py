"""The training loss: cross-entropy in fp32, summed and divided by the label tokens of the whole optimizer step.

transformers' Trainer assumes that Whisper's own loss is already divided that way. It is not, so with gradient
accumulation or several ranks it would be too large by that factor. Summing and dividing once gives the same loss and
gradient for any split into micro-batches and ranks.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from lsa_whisper.dataset import IGNORE_INDEX
from lsa_whisper.decoding.cross_attention import (
    Head,
    Observe,
    attention_weights,
    heads_by_layer,
    observe_cross_attention,
)
from lsa_whisper.finetuning.memory.activations import LOGITS_AT_ONCE

LETTERS = "abcdefghijklmnopqrstuvwxyz'"
"""Output symbols of the auxiliary CTC head; other characters are skipped."""


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
    """Return the summed negative log-likelihood of ``labels``.

    Of many logits, :data:`LOGITS_AT_ONCE` are processed at a time, and again in the backward pass.

    Args:
        logits: (batch, tokens, vocabulary), any float type.
        labels: (batch, tokens), ``-100`` for tokens that do not count.
        weights: (batch, tokens), weight of each token; 1 by default.
    """
    rows = max(1, LOGITS_AT_ONCE // logits.shape[-1])
    parts = (tensor.split(rows) for tensor in (logits.flatten(0, 1), labels.flatten()))
    each_weights = [None] * -(-labels.numel() // rows) if weights is None else weights.flatten().split(rows)
    chunks = list(zip(*parts, each_weights, strict=True))
    if len(chunks) == 1:
        return _cross_entropy(*chunks[0])
    return torch.stack([checkpoint(_cross_entropy, *part, use_reentrant=False) for part in chunks]).sum()


def _cross_entropy(logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
    reduction = "sum" if weights is None else "none"
    losses = functional.cross_entropy(logits.float(), labels, ignore_index=IGNORE_INDEX, reduction=reduction)
    return losses if weights is None else (losses * weights).sum()


def loss_sums_and_counts(logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each window's summed loss and number of label tokens, (batch, 1) each."""
    losses = functional.cross_entropy(logits.float().mT, labels, ignore_index=IGNORE_INDEX, reduction="none")
    return losses.sum(1, keepdim=True), (labels != IGNORE_INDEX).sum(1, keepdim=True)


def kl_divergence(base_logits: torch.Tensor, logits: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """Return KL(base || model) in nats, summed over the tokens that ``where`` selects.

    Args:
        base_logits: Logits of the base, (batch, tokens, vocabulary).
        logits: Logits of the model in training.
        where: (batch, tokens), bool.
    """
    base, model = (functional.log_softmax(values[where].float(), -1) for values in (base_logits, logits))
    return functional.kl_div(model, base, reduction="sum", log_target=True)


def letter_ids(tokens: Sequence[str]) -> torch.Tensor:
    """Return the indices of each token's letters, (tokens, longest), padded with ``-1``.

    Case, spaces and punctuation are ignored: they cannot be heard.

    >>> letter_ids([" Ab", "."]).tolist()
    [[0, 1], [-1, -1]]
    """
    letters = [[LETTERS.index(letter) for letter in token.lower() if letter in LETTERS] for token in tokens]
    longest = max(map(len, letters))
    return torch.tensor([numbers + [-1] * (longest - len(numbers)) for numbers in letters])


class CtcHead(nn.Linear):
    """Predicts letters from the encoder's states: an auxiliary CTC task (Graves et al. 2006), not part of Whisper.

    Letters rather than tokens: there are few of them, so that each is frequent even in little training data.
    """

    def __init__(self, width: int, tokens: Sequence[str]):
        """Create a head for states of ``width``; ``tokens`` are the texts of the vocabulary's text tokens, in order."""
        super().__init__(width, len(LETTERS) + 1)
        self.register_buffer("letters_of", letter_ids(tokens), persistent=False)

    def loss(self, states: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the summed CTC loss.

        Args:
            states: (batch, frames, width).
            labels: (batch, label tokens); special tokens and timestamps are ignored.
        """
        is_text = (labels >= 0) & (labels < len(self.letters_of))
        letters = self.letters_of[labels.where(is_text, 0)].masked_fill(~is_text[..., None], -1)
        scores = functional.log_softmax(self(states).float(), -1).transpose(0, 1)
        frames = torch.full((len(states),), states.shape[1], device=states.device)
        return functional.ctc_loss(
            scores,
            letters[letters >= 0],
            frames,
            (letters >= 0).sum((1, 2)),
            blank=len(LETTERS),
            reduction="sum",
            zero_infinity=True,
        )


@dataclass
class ExactLoss:
    """Trainer's ``compute_loss_func``: cross-entropy plus the terms of the recipe's ``loss`` section.

    Every term is a sum over tokens (or letters) divided by the label tokens of the whole step, so that no term depends
    on the split into micro-batches and ranks.
    """

    ctc_head: CtcHead | None = None
    ctc_weight: float = 0.0
    disfluency_weight: float = 1.0
    kl_to_base: float = 0.0
    alignment: AlignmentLoss | None = None
    alignment_weight: float = 0.0

    def __call__(
        self,
        outputs: Any,
        labels: torch.Tensor,
        num_items_in_batch: torch.Tensor | int | None = None,
        *,
        disfluency_mask: torch.Tensor | None = None,
        base_logits: torch.Tensor | None = None,
        token_spans_s: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the loss of one micro-batch, divided by the label tokens of the whole step.

        Args:
            outputs: The model's outputs, with ``logits``.
            labels: (batch, tokens).
            num_items_in_batch: Label tokens of the step; by default those in ``labels``.
            disfluency_mask: (batch, tokens), the tokens that belong to a disfluency; required by their weight.
            base_logits: Logits of the base; required by ``kl_to_base``.
            token_spans_s: (batch, tokens, 2), times of the label tokens; required by ``alignment``.
        """
        items = num_items_in_batch if num_items_in_batch is not None else (labels != IGNORE_INDEX).sum()
        loss = cross_entropy(outputs.logits, labels, self._weights(disfluency_mask))
        if self.ctc_head is not None:
            loss = loss + self.ctc_weight * self.ctc_head.loss(outputs.encoder_last_hidden_state, labels)
        if base_logits is not None:
            fluent = labels != IGNORE_INDEX
            fluent = fluent if disfluency_mask is None else fluent & ~disfluency_mask
            loss = loss + self.kl_to_base * kl_divergence(base_logits, outputs.logits, fluent)
        if self.alignment is not None and token_spans_s is not None:
            loss = loss + self.alignment_weight * self.alignment.loss(token_spans_s)
        return loss / items

    def _weights(self, disfluency_mask: torch.Tensor | None) -> torch.Tensor | None:
        if disfluency_mask is None or self.disfluency_weight == 1:
            return None
        return torch.where(disfluency_mask, self.disfluency_weight, 1.0)


class FrozenBase:
    """The model before training, for the divergence to it.

    With an adapter this is the model with its adapter disabled, otherwise a frozen copy.
    """

    def __init__(self, model: Any, device: Any):
        """Keep ``model`` as it is now, before its first step."""
        self._copy = None
        if not hasattr(model, "disable_adapter"):
            self._copy = copy.deepcopy(model).requires_grad_(False).eval().to(device)

    def logits(self, model: Any, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the base's logits for a batch, (batch, tokens, vocabulary), without dropout and SpecAugment."""
        batch = {name: inputs[name] for name in ("input_features", "decoder_input_ids")}
        if self._copy is not None:
            with torch.no_grad():
                return self._copy(**batch).logits
        model.eval()
        with torch.no_grad(), model.disable_adapter():
            logits = model(**batch).logits
        model.train()
        return logits


class AlignmentLoss:
    """Teaches the alignment heads where each word is heard, by their attention in each training step.

    The loss is one minus the cosine between the cross-attention of a token, averaged over the alignment heads, and the
    frames of its word, as published for CrisperWhisper (Wagner et al., Interspeech 2024). The average is what word
    times are read from (:mod:`lsa_whisper.decoding.token_times`).

    The attention is recorded inside a layer's forward pass: there the weights are whole under every sharding strategy.
    """

    def __init__(self, model: Any, heads: Iterable[Head], step_s: float):
        """Record the cross-attention of ``heads``, ``(layer, head)`` pairs of a Whisper model.

        Args:
            model: The model without wrappers, in training.
            heads: The alignment heads.
            step_s: Duration of an encoder frame in seconds.
        """
        self.step_s, self._recorded = step_s, dict[int, torch.Tensor]()
        of_layer = heads_by_layer(heads)
        self.heads = sum(map(len, of_layer.values()))
        for layer, indices in of_layer.items():
            observe_cross_attention(model, layer, self._recorder(layer, indices))

    def _recorder(self, layer: int, heads: Sequence[int]) -> Observe:
        def record(module: Any, hidden: torch.Tensor, encoded: torch.Tensor) -> None:
            # Not for the dev set, nor for the frozen base. Activation checkpointing runs a layer again in the backward
            # pass; that record is dropped when the next step starts.
            if module.training and torch.is_grad_enabled():
                self._recorded[layer] = attention_weights(module, hidden, encoded, heads).sum(0)

        return record

    def start_step(self) -> None:
        """Forget what was recorded; call this before each forward pass."""
        self._recorded.clear()

    def loss(self, spans_s: torch.Tensor) -> torch.Tensor:
        """Return the loss summed over all tokens that have a time.

        Args:
            spans_s: (batch, tokens, 2), start and end of each label token in seconds; NaN without a time.
        """
        attention = torch.stack([*self._recorded.values()]).sum(0) / self.heads
        self._recorded.clear()
        timed = ~spans_s.isnan().any(-1)
        if not timed.any():
            return attention.sum() * 0.0
        target = frame_shares(spans_s[timed], attention.shape[-1], self.step_s)
        return (1 - functional.cosine_similarity(attention[timed], target, dim=-1)).sum()


def frame_shares(spans_s: torch.Tensor, frames: int, step_s: float) -> torch.Tensor:
    """Return how much of each encoder frame each span covers, (spans, frames), from 0 to 1.

    >>> frame_shares(torch.tensor([[0.01, 0.05]]), 4, 0.02).round(decimals=2).tolist()
    [[0.5, 1.0, 0.5, 0.0]]
    """
    starts = torch.arange(frames, device=spans_s.device) * step_s
    ends = torch.minimum(spans_s[:, 1:], starts + step_s)
    return (ends - torch.maximum(spans_s[:, :1], starts)).clamp(min=0) / step_s
