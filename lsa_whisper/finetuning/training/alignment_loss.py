"""The alignment loss: it teaches the alignment heads where each word is heard.

One minus the cosine between the cross-attention of a token, averaged over the alignment heads, and the frames of its
word, as published for CrisperWhisper (Wagner et al., Interspeech 2024). The average is what word times are read from
(:mod:`lsa_whisper.decoding.token_times`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.nn import functional

from lsa_whisper.decoding.cross_attention import (
    Head,
    Observe,
    attention_weights,
    heads_by_layer,
    observe_cross_attention,
)


class AlignmentLoss:
    """Records the attention of the alignment heads in each training step, and compares it with the word times.

    It is recorded inside a layer's forward pass: there the weights are whole under every sharding strategy.
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
        for layer, chosen in of_layer.items():
            observe_cross_attention(model, layer, self._recorder(layer, chosen))

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
        known = ~spans_s.isnan().any(-1)
        if not known.any():
            return attention.sum() * 0.0
        target = frame_shares(spans_s[known], attention.shape[-1], self.step_s)
        return (1 - functional.cosine_similarity(attention[known], target, dim=-1)).sum()


def frame_shares(spans_s: torch.Tensor, frames: int, step_s: float) -> torch.Tensor:
    """Return how much of each encoder frame each span covers, (spans, frames), from 0 to 1.

    >>> frame_shares(torch.tensor([[0.01, 0.05]]), 4, 0.02).round(decimals=2).tolist()
    [[0.5, 1.0, 0.5, 0.0]]
    """
    starts = torch.arange(frames, device=spans_s.device) * step_s
    ends = torch.minimum(spans_s[:, 1:], starts + step_s)
    return (ends - torch.maximum(spans_s[:, :1], starts)).clamp(min=0) / step_s
