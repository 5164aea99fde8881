"""Added decoder layers that at first leave the output of the base unchanged."""

from __future__ import annotations

import copy
from typing import Any

import torch

from lsa_whisper.errors import RecipeError


def add_decoder_layers(model: Any, layers: int) -> None:
    """Extend the decoder of a Whisper model to ``layers`` layers in place: new ones follow each of its own.

    A new layer starts as the identity: the output projections of its blocks are zero, so that they add nothing to the
    residual stream until training changes them (as in Chen et al. 2016, *Net2Net*, for residual networks).

    Raises:
        RecipeError: If ``layers`` is not a multiple of the decoder's number of layers.
    """
    decoder = model.get_decoder()
    before = len(decoder.layers)
    if layers < before or layers % before:
        raise RecipeError(f"model.decoder_layers: must be a multiple of the base's {before} layers, not {layers}")
    extended: list[Any] = []
    for layer in decoder.layers:
        extended += [layer, *(_identity_like(layer) for _ in range(layers // before - 1))]
    decoder.layers = torch.nn.ModuleList(extended)
    for index, layer in enumerate(extended):
        layer.self_attn.layer_idx = layer.encoder_attn.layer_idx = index
    decoder.config.decoder_layers = model.config.decoder_layers = layers
    _renumber_alignment_heads(model.generation_config, layers // before)


def _identity_like(layer: Any) -> Any:
    """Return a new layer with the dimensions of ``layer`` that adds nothing to the residual stream."""
    new = copy.deepcopy(layer)
    for module in new.modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, std=0.02)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
        elif isinstance(module, torch.nn.LayerNorm):
            module.reset_parameters()
    for projection in (new.self_attn.out_proj, new.encoder_attn.out_proj, new.fc2):
        torch.nn.init.zeros_(projection.weight)
    return new


def _renumber_alignment_heads(generation_config: Any, factor: int) -> None:
    if heads := getattr(generation_config, "alignment_heads", None):
        generation_config.alignment_heads = [[layer * factor, head] for layer, head in heads]
