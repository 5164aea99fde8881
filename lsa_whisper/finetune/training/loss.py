"""The loss, exactly: summed cross-entropy in fp32 over the number of label tokens of the whole optimiser step.

Trainer believes that Whisper's own loss is already divided that way; it is not, so with accumulation or several
processes it would be too large by that factor. Summing here and dividing once gives the same loss and gradient
however the batch is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lsa_whisper.dataset import IGNORE_INDEX

LETTERS = "abcdefghijklmnopqrstuvwxyz'"
"""What the auxiliary CTC head can spell; other letters of other languages are passed over."""


def cross_entropy(
    logits: torch.Tensor, labels: torch.Tensor, label_smoothing: float = 0.0, weights: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the summed negative log-likelihood of ``labels``.

    Args:
        logits: (batch, tokens, vocabulary), any float type.
        labels: (batch, tokens), ``-100`` where nothing is to be learned.
        label_smoothing: Share of the target spread over the whole vocabulary.
        weights: (batch, tokens), how much each token counts; all the same when left out.
    """
    losses = functional.cross_entropy(
        logits.float().flatten(0, 1),
        labels.flatten(),
        ignore_index=IGNORE_INDEX,
        reduction="sum" if weights is None else "none",
        label_smoothing=label_smoothing,
    )
    return losses if weights is None else (losses * weights.flatten()).sum()


def sums_and_counts(logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each window's summed loss and number of label tokens, (batch, 1) each; their sums give the exact mean."""
    losses = functional.cross_entropy(logits.float().mT, labels, ignore_index=IGNORE_INDEX, reduction="none")
    return losses.sum(1, keepdim=True), (labels != IGNORE_INDEX).sum(1, keepdim=True)


def divergence(base: torch.Tensor, logits: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """Return KL(base || model) in nats, summed over the tokens ``where`` holds.

    Args:
        base: Logits of the model as it was, (batch, tokens, vocabulary).
        logits: Logits of the model as it is.
        where: (batch, tokens), bool.
    """
    was, now = (functional.log_softmax(each[where].float(), -1) for each in (base, logits))
    return functional.kl_div(now, was, reduction="sum", log_target=True)


def spelling(tokens: Sequence[str]) -> torch.Tensor:
    """Return each token's letters as numbers, (tokens, longest), filled up with ``-1``.

    Case, spaces and marks are left out: they are not heard.

    >>> spelling([" Ab", "."]).tolist()
    [[0, 1], [-1, -1]]
    """
    letters = [[LETTERS.index(letter) for letter in token.lower() if letter in LETTERS] for token in tokens]
    longest = max(map(len, letters))
    return torch.tensor([numbers + [-1] * (longest - len(numbers)) for numbers in letters])


class CtcHead(nn.Linear):
    """Reads the encoder's states letter by letter; an auxiliary task (Graves et al. 2006), not part of Whisper.

    Letters rather than tokens: there are few of them, so each is heard often enough to be learned from little speech.
    """

    def __init__(self, width: int, tokens: Sequence[str]):
        """Make a head for states of ``width``; ``tokens`` are the texts of the vocabulary's text tokens, in order."""
        super().__init__(width, len(LETTERS) + 1)
        self.register_buffer("letters_of", spelling(tokens), persistent=False)

    def loss(self, states: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the summed CTC loss.

        Args:
            states: (batch, frames, width).
            labels: (batch, label tokens); specials and timestamps are left out.
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
    """Trainer's ``compute_loss_func``: cross-entropy, and what the recipe's ``loss`` section adds to it.

    Every term is a sum over tokens (or letters) divided by the label tokens of the whole step, so that none depends on
    how the batch is cut.
    """

    ctc_head: CtcHead | None = None
    ctc_weight: float = 0.0
    label_smoothing: float = 0.0
    disfluency_weight: float = 1.0
    kl_to_base: float = 0.0

    def __call__(
        self,
        outputs: Any,
        labels: torch.Tensor,
        num_items_in_batch: torch.Tensor | int | None = None,
        *,
        disfluent: torch.Tensor | None = None,
        base_logits: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the loss of one micro-batch, divided by the label tokens of the whole step.

        Args:
            outputs: The model's, with ``logits``.
            labels: (batch, tokens).
            num_items_in_batch: Label tokens of the step; those of ``labels`` when left out.
            disfluent: (batch, tokens), which tokens belong to a disfluency; needed for a weight of them.
            base_logits: What the base says, to stay near it.
        """
        items = num_items_in_batch if num_items_in_batch is not None else (labels != IGNORE_INDEX).sum()
        loss = cross_entropy(outputs.logits, labels, self.label_smoothing, self._weights(disfluent))
        if self.ctc_head is not None:
            loss = loss + self.ctc_weight * self.ctc_head.loss(outputs.encoder_last_hidden_state, labels)
        if base_logits is not None:
            fluent = labels != IGNORE_INDEX
            fluent = fluent if disfluent is None else fluent & ~disfluent
            loss = loss + self.kl_to_base * divergence(base_logits, outputs.logits, fluent)
        return loss / items

    def _weights(self, disfluent: torch.Tensor | None) -> torch.Tensor | None:
        if disfluent is None or self.disfluency_weight == 1:
            return None
        return torch.where(disfluent, self.disfluency_weight, 1.0)
