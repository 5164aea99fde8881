"""A base with more decoder layers than it was trained with, which at first writes exactly what it wrote before."""

from __future__ import annotations

import copy
from typing import Any

import torch

from lsa_whisper.errors import RecipeError


def deepen(model: Any, layers: int) -> None:
    """Give the decoder of a Whisper ``layers`` layers in place: each of its own is followed by new ones.

    A new layer begins as the identity: what its blocks add to the residual stream is multiplied by zeros, which
    training then changes (as in Chen et al. 2016, *Net2Net*, for residual networks).

    Raises:
        RecipeError: If ``layers`` is not a multiple of what the decoder has.
    """
    decoder = model.get_decoder()
    had = len(decoder.layers)
    if layers < had or layers % had:
        raise RecipeError(f"model.decoder_layers: a multiple of the base's {had}, not {layers}")
    deeper = []
    for layer in decoder.layers:
        deeper += [layer, *(_identity(layer) for _ in range(layers // had - 1))]
    decoder.layers = torch.nn.ModuleList(deeper)
    for index, layer in enumerate(deeper):
        layer.self_attn.layer_idx = layer.encoder_attn.layer_idx = index
    decoder.config.decoder_layers = model.config.decoder_layers = layers
    _move_alignment_heads(model.generation_config, layers // had)


def _identity(layer: Any) -> Any:
    """Return a layer with weights of its own that adds nothing."""
    new = copy.deepcopy(layer)
    for module in new.modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, std=0.02)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
        elif isinstance(module, torch.nn.LayerNorm):
            module.reset_parameters()
    for adds in (new.self_attn.out_proj, new.encoder_attn.out_proj, new.fc2):
        torch.nn.init.zeros_(adds.weight)
    return new


def _move_alignment_heads(config: Any, times: int) -> None:
    if heads := getattr(config, "alignment_heads", None):
        config.alignment_heads = [[layer * times, head] for layer, head in heads]
