"""Disturbed decoder inputs: a model that cannot trust what it wrote must listen."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class InputNoise:
    """Replaces a share of the decoder's input text tokens by random ones.

    A small decoder soon knows its training text by heart and guesses the next word from the last ones; meeting a sign it
    has never read, it is lost. With some of its inputs wrong it learns to find its place in the sound instead.
    """

    share: float
    """Of the text tokens, 0 to 1."""
    text_tokens: int
    """Ids below this are text; specials and timestamps are left alone."""

    def __call__(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return ``tokens`` (batch, length) with some replaced.

        >>> InputNoise(0.0, 9)(torch.tensor([[1, 2]])).tolist()
        [[1, 2]]
        """
        if not self.share:
            return tokens
        chosen = (torch.rand(tokens.shape, device=tokens.device) < self.share) & (tokens < self.text_tokens)
        return torch.where(chosen, torch.randint_like(tokens, self.text_tokens), tokens)
