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

IGNORED = -100
LETTERS = "abcdefghijklmnopqrstuvwxyz'"
"""What the auxiliary CTC head can spell; other letters of other languages are passed over."""


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor, smoothing: float = 0.0) -> torch.Tensor:
    """Return the summed negative log-likelihood of ``labels``.

    Args:
        logits: (batch, tokens, vocabulary), any float type.
        labels: (batch, tokens), ``-100`` where nothing is to be learned.
        smoothing: Share of the target spread over the whole vocabulary.
    """
    return functional.cross_entropy(
        logits.float().flatten(0, 1),
        labels.flatten(),
        ignore_index=IGNORED,
        reduction="sum",
        label_smoothing=smoothing,
    )


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
    """Trainer's ``compute_loss_func``: cross-entropy, plus CTC on the encoder when there is a head for it."""

    ctc_head: CtcHead | None = None
    ctc_weight: float = 0.0
    smoothing: float = 0.0

    def __call__(
        self, outputs: Any, labels: torch.Tensor, num_items_in_batch: torch.Tensor | int | None = None
    ) -> torch.Tensor:
        """Return the loss of one micro-batch, divided by the label tokens of the whole step."""
        items = num_items_in_batch if num_items_in_batch is not None else (labels != IGNORED).sum()
        loss = cross_entropy(outputs.logits, labels, self.smoothing)
        if self.ctc_head is not None:
            loss = loss + self.ctc_weight * self.ctc_head.loss(outputs.encoder_last_hidden_state, labels)
        return loss / items
