"""The model of a recipe: a checkpoint or new weights, what of it is trained, and the adapter on top."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import torch

from lsa_whisper import checkpoint, manifest
from lsa_whisper.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.finetune.distributed.ranks import rank
from lsa_whisper.finetune.recipe import ModelSettings, Recipe
from lsa_whisper.finetune.training.adapter import quantization, with_adapter
from lsa_whisper.finetune.training.decoder_layers import deepen
from lsa_whisper.finetune.training.loss import CtcHead
from lsa_whisper.finetune.training.precision import multiply_in_8_bits, weights_type
from lsa_whisper.finetune.training.trim import hear_any_length
from lsa_whisper.labels import Labels
from lsa_whisper.library_internals import sinusoidal_positions
from lsa_whisper.manifest import TIMESTAMP


def start(recipe: Recipe, labels: Labels) -> Checkpoint:
    """Return the checkpoint training starts from, with ``labels`` as what it is going to write.

    Its weights are fp32, whatever the base was saved in (large-v3's is fp16), unless the recipe asks for ``pure-bf16``
    or for a quantised base.
    """
    if recipe.model.base is not None:
        reads = not recipe.fsdp.cpu_ram_efficient_loading or rank() == 0
        quantized = quantization(recipe.adapter, weights_type(recipe)) if recipe.adapter else None
        begun = checkpoint.load(recipe.model.base, dtype=weights_type(recipe), weights=reads, quantized=quantized)
        begun = dataclasses.replace(begun, labels=labels)
        if recipe.model.decoder_layers is not None:
            deepen(begun.model, recipe.model.decoder_layers)
    else:
        begun = _scratch(recipe, labels)
    return with_context(begun, recipe.model.context_s) if recipe.model.context_s else begun


def with_context(begun: Checkpoint, context_s: float) -> Checkpoint:
    """Return the checkpoint hearing windows of ``context_s`` seconds: its encoder's positions cut, or continued.

    Whisper's encoder marks positions with sinusoids that do not depend on how many there are, so both are exact.
    """
    from transformers import WhisperFeatureExtractor

    encoder, positions = begun.model.get_encoder(), round(context_s / begun.time_precision_s)
    table = sinusoidal_positions(positions, encoder.config.d_model).to(encoder.embed_positions.weight)
    encoder.embed_positions = torch.nn.Embedding.from_pretrained(table)
    begun.model.config.max_source_positions = positions
    settings = begun.feature_extractor.to_dict() | {"chunk_length": round(context_s)}
    derived = ("n_samples", "nb_max_frames", "mel_filters")
    settings = {name: value for name, value in settings.items() if name not in derived}
    return dataclasses.replace(begun, feature_extractor=WhisperFeatureExtractor(**settings))


def _scratch(recipe: Recipe, labels: Labels) -> Checkpoint:
    from lsa_whisper.finetune.training import new_model as scratch

    shape = recipe.model.scratch
    assert shape is not None
    sources = shape.vocab_manifests or (recipe.data.train,)
    windows = (segment.text for source in sources for segment in manifest.stream(Path(source)))
    texts = sorted({f" {text.strip()}" for window in windows for text in TIMESTAMP.split(window)[::2] if text.strip()})
    tokenizer = scratch.new_tokenizer(texts, shape.vocab_size, shape.context_s)
    model = scratch.new_model(shape, tokenizer)
    return Checkpoint("", model, scratch.new_feature_extractor(shape), tokenizer, labels)


def prepare_for_training(begun: Checkpoint, recipe: Recipe) -> Any:
    """Return the model of ``begun`` with the recipe's frozen parts, adapter and auxiliary head."""
    model = begun.model
    model.config.use_cache = False
    model.get_encoder().embed_positions.requires_grad_(False)  # sinusoids, given by formula
    _hide_parts(model.config, recipe.data.augment)
    if recipe.data.trim:
        hear_any_length(model.get_encoder())
    if recipe.model.dropout is not None:
        for module in model.modules():
            if isinstance(getattr(module, "dropout", None), float):
                module.dropout = recipe.model.dropout
    freeze(model, recipe.model)
    if recipe.model.ctc_weight:
        texts = [begun.tokenizer.decode([index]) for index in range(begun.tokenizer.eos_token_id)]
        model.ctc_head = CtcHead(model.config.d_model, texts).to(model.dtype)
    if recipe.adapter is not None:
        return with_adapter(model, recipe.adapter, _written(begun, recipe) if recipe.adapter.token_embeddings else ())
    return multiply_in_8_bits(model) if recipe.precision == "fp8" else model


def freeze(model: Any, wanted: ModelSettings) -> None:
    """Leave only what the recipe's ``model.freeze_encoder`` and ``model.top_layers`` name free to be trained."""
    stacks = [model.get_decoder(), *([] if wanted.freeze_encoder else [model.get_encoder()])]
    if wanted.freeze_encoder:
        model.get_encoder().requires_grad_(False)
    if wanted.top_layers is None:
        return
    model.requires_grad_(False)
    for stack in stacks:
        stack.layers[-wanted.top_layers :].requires_grad_(True)
        stack.layer_norm.requires_grad_(True)


def _written(begun: Checkpoint, recipe: Recipe) -> list[int]:
    """Return the ids of the text tokens in the training labels."""
    found: set[int] = set()
    for segment in manifest.stream(Path(recipe.data.train)):
        texts = [f" {text.strip()}" for text in TIMESTAMP.split(segment.text)[::2]]
        found.update(*begun.tokenizer(texts, add_special_tokens=False).input_ids)
    return sorted(found)


def _hide_parts(config: Any, augment: Augmentation) -> None:
    """Set SpecAugment, which Whisper does itself while it is trained."""
    config.apply_spec_augment = bool(augment.mask_time_prob or augment.mask_feature_prob)
    config.mask_time_prob, config.mask_feature_prob = augment.mask_time_prob, augment.mask_feature_prob
    config.mask_feature_length = min(config.mask_feature_length, config.num_mel_bins // 8)
