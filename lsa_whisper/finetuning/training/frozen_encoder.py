"""An encoder that is not trained hears each window once: what it made of it is kept in memory."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from lsa_whisper.audio.augment import Augmentation
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of

_MAX_BYTES = 2**30
"""Kept at most: 340 windows of OpenAI's base. Training its decoder on 21 windows takes a third of the time."""


def remember_windows(model: Any, recipe: Recipe) -> None:
    """Let the encoder of ``model`` keep its outputs, if ``data.cache`` asks for it and nothing changes them.

    They change if a part of the encoder is trained, and with augmentation, trimming or dropout. Each is computed alone,
    so that it does not depend on the other windows of its batch.
    """
    encoder, data = model.get_encoder(), recipe.data
    is_trained = any(weight.requires_grad for weight in encoder.parameters())
    is_random = bool(recipe.model.dropout) or encoder.layerdrop or data.augment != Augmentation() or data.trim
    is_plain = strategy_of(recipe).has_whole_state and recipe.precision == "fp32"
    if data.cache and is_plain and not is_trained and not is_random:
        encoder.forward = _Remembered(encoder.forward)


class _Remembered:
    """The forward pass of an encoder, once for each window."""

    def __init__(self, forward: Any):
        self._forward, self._bytes = forward, 0
        self._outputs: dict[bytes, torch.Tensor] = {}

    def __call__(self, input_features: torch.Tensor, *arguments: Any, **settings: Any) -> BaseModelOutput:
        """Return the hidden states, ``(windows, positions, width)``."""
        rows = [self._row(row[None], *arguments, **settings) for row in input_features]
        return BaseModelOutput(last_hidden_state=torch.cat(rows))

    def _row(self, features: torch.Tensor, *arguments: Any, **settings: Any) -> torch.Tensor:
        key = hashlib.blake2b(features.detach().float().cpu().numpy().tobytes(), digest_size=16).digest()
        if (kept := self._outputs.get(key)) is not None:
            return kept.to(features.device)
        with torch.no_grad():
            hidden: torch.Tensor = self._forward(features, *arguments, **settings).last_hidden_state
        if self._bytes + hidden.nbytes <= _MAX_BYTES:
            self._outputs[key], self._bytes = hidden.cpu(), self._bytes + hidden.nbytes
        return hidden
