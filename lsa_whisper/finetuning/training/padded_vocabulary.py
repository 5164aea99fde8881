"""A vocabulary padded in training to a size at which GPUs multiply faster; saved files do not contain the padding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

MULTIPLE = 64
"""Tensor cores work on blocks of this many columns at most."""
_TABLES = ("embed_tokens.weight", "proj_out.weight")


def pad_vocabulary(model: Any) -> None:
    """Pad the token embeddings of a Whisper, which are its output layer, too, with zeros in place.

    The output layer's forward pass cuts the padding off again, so that no loss and no search can see it. Weights
    without the padding can be loaded.
    """
    size, table = model.config.vocab_size, model.get_decoder().embed_tokens
    padding = -size % MULTIPLE
    table.weight.data = nn.functional.pad(table.weight.detach(), (0, 0, 0, padding))
    table.num_embeddings = model.proj_out.out_features = size + padding
    model.proj_out.register_forward_hook(lambda _, inputs, logits: logits[..., :size])

    def pad(module: nn.Module, state: dict[str, Any], *_: Any) -> None:
        for name, value in state.items():
            if name.endswith(_TABLES) and len(value) == size:
                state[name] = nn.functional.pad(value, (0, 0, 0, padding))

    model.register_load_state_dict_pre_hook(pad)


def without_padding(model: Any, weights: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the weights to save without the padding.

    Args:
        model: The model in training, with or without an adapter; an adapter does not contain the vocabulary.
        weights: Its gathered weights, ``None`` if they were not sharded.
    """
    if hasattr(model, "peft_config"):
        return None if weights is None else dict(weights)
    size = model.config.vocab_size
    found: Mapping[str, torch.Tensor] = model.state_dict() if weights is None else weights
    return {name: value[:size].clone() if name.endswith(_TABLES) else value for name, value in found.items()}
