"""The loss, exactly: summed cross-entropy in fp32 over the number of label tokens of the whole optimiser step.

Trainer believes that Whisper's own loss is already divided that way; it is not, so with accumulation or several
processes it would be too large by that factor. Summing here and dividing once gives the same loss and gradient
however the batch is cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

IGNORED = -100


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the summed negative log-likelihood of ``labels``.

    Args:
        logits: (batch, tokens, vocabulary), any float type.
        labels: (batch, tokens), ``-100`` where nothing is to be learned.
    """
    return functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum")


def ctc(states: torch.Tensor, labels: torch.Tensor, head: nn.Linear) -> torch.Tensor:
    """Return the summed CTC loss (Graves et al. 2006) of the labels' text tokens on the encoder's ``states``.

    Args:
        states: (batch, frames, width).
        labels: (batch, tokens); ids outside the head's alphabet (specials, timestamps) are left out.
        head: Scores of every text token and, last, of the blank.
    """
    blank = head.out_features - 1
    scores = functional.log_softmax(head(states).float(), -1).transpose(0, 1)
    is_text = (labels >= 0) & (labels < blank)
    targets = labels[is_text]
    lengths = torch.full((states.shape[0],), states.shape[1], device=states.device)
    return functional.ctc_loss(
        scores, targets, lengths, is_text.sum(1), blank=blank, reduction="sum", zero_infinity=True
    )


@dataclass
class ExactLoss:
    """Trainer's ``compute_loss_func``: cross-entropy, plus CTC on the encoder when there is a head for it."""

    ctc_head: nn.Linear | None = None
    ctc_weight: float = 0.0

    def __call__(
        self, outputs, labels: torch.Tensor, num_items_in_batch: torch.Tensor | int | None = None
    ) -> torch.Tensor:
        """Return the loss of one micro-batch, divided by the label tokens of the whole step."""
        items = num_items_in_batch if num_items_in_batch is not None else (labels != IGNORED).sum()
        loss = cross_entropy(outputs.logits, labels)
        if self.ctc_head is not None:
            loss = loss + self.ctc_weight * ctc(outputs.encoder_last_hidden_state, labels, self.ctc_head)
        return loss / items
