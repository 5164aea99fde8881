"""The model of a recipe: base or new weights, added layers, frozen parts, adapter and auxiliary head."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from lsa_whisper import checkpoint, manifest
from lsa_whisper.audio.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.trimming import accept_shorter_inputs
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import local_rank, rank
from lsa_whisper.finetuning.recipe import ModelSettings, Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.adapter import add_adapter, quantization_config
from lsa_whisper.finetuning.training.loss import CtcHead
from lsa_whisper.finetuning.training.precision import compute_dtype, convert_to_fp8, has_gpu, weights_dtype
from lsa_whisper.finetuning.training.second_stage import base_to_load, continued_adapter, first_stage
from lsa_whisper.labels import Labels
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.system.library_internals import sinusoidal_positions


def starting_checkpoint(recipe: Recipe, labels: Labels) -> Checkpoint:
    """Return the checkpoint that training starts from, set to transcribe in the style of ``labels``.

    Its weights are fp32, also if the base was saved in fp16 (as large-v3), unless the recipe requests ``pure-bf16`` or
    a quantized base. Where one rank sends them to the others, these do not read them.
    """
    if recipe.model.base is not None:
        with_weights = _reads_weights(recipe, base_to_load(recipe))
        quantized = quantization_config(recipe.adapter, compute_dtype(recipe)) if recipe.adapter else None
        reads_onto_gpu = recipe.precision == "pure-bf16" and quantized is None and has_gpu(recipe)
        start = checkpoint.load(
            base_to_load(recipe),
            dtype=weights_dtype(recipe),
            device=f"cuda:{local_rank()}" if reads_onto_gpu else "cpu",
            weights=with_weights,
            by_weight=reads_onto_gpu,
            quantized=quantized,
        )
        prompt = start.labels.prompt if recipe.data.prompt is None else recipe.data.prompt
        start = dataclasses.replace(start, labels=dataclasses.replace(labels, prompt=prompt))
        if recipe.model.decoder_layers is not None:
            add_decoder_layers(start.model, recipe.model.decoder_layers)
    else:
        start = _scratch(recipe, dataclasses.replace(labels, prompt=recipe.data.prompt or ""))
    return with_context(start, recipe.model.context_s) if recipe.model.context_s else start


def _reads_weights(recipe: Recipe, base: str) -> bool:
    """Return whether this rank reads all weights at once, rather than none or, as rank 0 of ZeRO-3, one at a time."""
    if strategy_of(recipe).loads_by_weight:
        copies = recipe.adapter is not None and recipe.adapter.copies_weights
        return rank() == 0 and (copies or checkpoint.folder_of_weights(base) is None)
    return not recipe.fsdp.cpu_ram_efficient_loading or rank() == 0


def with_context(start: Checkpoint, context_s: float) -> Checkpoint:
    """Return the checkpoint with a context of ``context_s`` seconds: fewer or more encoder positions.

    Whisper's encoder positions are sinusoids that do not depend on how many there are, so either change is exact.
    """
    from transformers import WhisperFeatureExtractor

    encoder, positions = start.model.get_encoder(), round(context_s / start.time_precision_s)
    table = sinusoidal_positions(positions, encoder.config.d_model).to(encoder.embed_positions.weight)
    encoder.embed_positions = torch.nn.Embedding.from_pretrained(table)
    start.model.config.max_source_positions = positions
    settings = start.feature_extractor.to_dict() | {"chunk_length": round(context_s)}
    derived = ("n_samples", "nb_max_frames", "mel_filters")
    settings = {name: value for name, value in settings.items() if name not in derived}
    return dataclasses.replace(start, feature_extractor=WhisperFeatureExtractor(**settings))


def _scratch(recipe: Recipe, labels: Labels) -> Checkpoint:
    from lsa_whisper.finetuning.training import new_model as scratch

    shape = recipe.model.scratch
    assert shape is not None
    sources = shape.vocab_manifests or (recipe.data.train,)
    windows = (segment.text for source in sources for segment in manifest.stream(Path(source)))
    texts = sorted({f" {text.strip()}" for window in windows for text in TIMESTAMP.split(window)[::2] if text.strip()})
    tokenizer = scratch.new_tokenizer(texts, shape.vocab_size, shape.context_s)
    model = scratch.new_model(shape, tokenizer)
    return Checkpoint("", model, scratch.new_feature_extractor(shape), tokenizer, labels)


def prepare_for_training(start: Checkpoint, recipe: Recipe) -> Any:
    """Return the model of ``start`` with the recipe's frozen parts, adapter and auxiliary head."""
    model = _with_parts(start, recipe)
    remember_windows(start.model, recipe)
    return model


def _with_parts(start: Checkpoint, recipe: Recipe) -> Any:
    model = start.model
    model.set_attn_implementation(recipe.model.attention)
    model.config.use_cache = False
    model.get_encoder().embed_positions.requires_grad_(False)  # fixed sinusoids
    _set_spec_augment(model.config, recipe.data.augment)
    if recipe.data.trim:
        accept_shorter_inputs(model.get_encoder())
    if recipe.model.dropout is not None:
        for module in model.modules():
            if isinstance(getattr(module, "dropout", None), float):
                module.dropout = recipe.model.dropout
    freeze_parameters(model, recipe.model)
    if recipe.model.ctc_weight:
        texts = [start.tokenizer.decode([index]) for index in range(start.tokenizer.eos_token_id)]
        model.ctc_head = CtcHead(model.config.d_model, texts).to(model.dtype)
    if recipe.adapter is not None:
        if recipe.adapter.second_stage == "continue" and (folder := first_stage(recipe)):
            return continued_adapter(model, folder)
        return add_adapter(
            model, recipe.adapter, _label_tokens(start, recipe) if recipe.adapter.token_embeddings else ()
        )
    return convert_to_fp8(model) if recipe.precision == "fp8" else model


def freeze_parameters(model: Any, settings: ModelSettings) -> None:
    """Freeze the parameters that ``model.freeze_encoder`` and ``model.top_layers`` exclude from training."""
    stacks = [model.get_decoder(), *([] if settings.freeze_encoder else [model.get_encoder()])]
    if settings.freeze_encoder:
        model.get_encoder().requires_grad_(False)
    if settings.top_layers is None:
        return
    model.requires_grad_(False)
    for stack in stacks:
        stack.layers[-settings.top_layers :].requires_grad_(True)
        stack.layer_norm.requires_grad_(True)


def _label_tokens(start: Checkpoint, recipe: Recipe) -> list[int]:
    """Return the ids of the text tokens in the training labels."""
    found: set[int] = set()
    for segment in manifest.stream(Path(recipe.data.train)):
        texts = [f" {text.strip()}" for text in TIMESTAMP.split(segment.text)[::2]]
        found.update(*start.tokenizer(texts, add_special_tokens=False).input_ids)
    return sorted(found)


def _set_spec_augment(config: Any, augment: Augmentation) -> None:
    """Configure SpecAugment, which transformers' Whisper applies in training mode."""
    config.apply_spec_augment = bool(augment.mask_time_prob or augment.mask_feature_prob)
    config.mask_time_prob, config.mask_feature_prob = augment.mask_time_prob, augment.mask_feature_prob
    config.mask_time_length = augment.mask_time_length
    config.mask_feature_length = augment.mask_feature_length or max(1, min(10, config.num_mel_bins // 8))


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
