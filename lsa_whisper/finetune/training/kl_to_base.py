"""The model as it was before training, asked beside the one that is trained."""

from __future__ import annotations

import copy
from typing import Any

import torch


class Base:
    """The base of an adapter is the model with its adapter switched off; that of a whole model is a frozen copy."""

    def __init__(self, model: Any, device: Any):
        """Remember ``model``; to be made before its first step."""
        self.copy = None
        if not hasattr(model, "disable_adapter"):
            self.copy = copy.deepcopy(model).requires_grad_(False).eval().to(device)

    @torch.no_grad()
    def logits(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Return what the base says of a batch, without dropout or SpecAugment, (batch, tokens, vocabulary)."""
        given = {name: inputs[name] for name in ("input_features", "decoder_input_ids")}
        if self.copy is not None:
            return self.copy(**given).logits
        model.eval()
        with model.disable_adapter():
            logits = model(**given).logits
        model.train()
        return logits
