"""The model of a recipe: base or new weights, added layers, frozen parts, adapter and auxiliary head.

A new model is a small Whisper with a byte-pair vocabulary, mel features and random weights. The vocabulary keeps
Whisper's order (text, special tokens, timestamps), so that any software for Whisper checkpoints can load it.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    GenerationConfig,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
    WhisperTokenizer,
)

from lsa_whisper import checkpoint, manifest
from lsa_whisper.audio.augment import Augmentation
from lsa_whisper.chat import Disfluency
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.trimming import accept_shorter_inputs
from lsa_whisper.checkpoint.whisper_constants import SPECIAL_TOKENS, TIMESTAMP_STEP_S
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import local_rank, rank
from lsa_whisper.finetuning.recipe import ModelSettings, Recipe, ScratchModel
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.adapter import (
    add_adapter,
    base_to_load,
    first_stage,
    quantization_config,
)
from lsa_whisper.finetuning.training.loss import CtcHead
from lsa_whisper.finetuning.training.precision import compute_dtype, convert_to_fp8, has_gpu, weights_dtype
from lsa_whisper.finetuning.training.training_data import remember_windows
from lsa_whisper.labels import Coverage, Labels
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
        # Until the model is saved, what the base never saw; then what the new labels have is taken out.
        before = Coverage.of(start.labels, is_trained=bool(start.recipe))
        unseen = tuple(kind.value for kind in Disfluency if kind in before.left_out | before.in_part)
        start = dataclasses.replace(start, labels=dataclasses.replace(labels, prompt=prompt, unseen=unseen))
        if recipe.model.decoder_layers is not None:
            add_decoder_layers(start.model, recipe.model.decoder_layers)
    else:
        unseen = tuple(kind.value for kind in Disfluency)
        start = _scratch(recipe, dataclasses.replace(labels, prompt=recipe.data.prompt or "", unseen=unseen))
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
    encoder, positions = start.model.get_encoder(), round(context_s / start.time_precision_s)
    table = sinusoidal_positions(positions, encoder.config.d_model).to(encoder.embed_positions.weight)
    encoder.embed_positions = torch.nn.Embedding.from_pretrained(table)
    start.model.config.max_source_positions = positions
    settings = start.feature_extractor.to_dict() | {"chunk_length": round(context_s)}
    derived = ("n_samples", "nb_max_frames", "mel_filters")
    settings = {name: value for name, value in settings.items() if name not in derived}
    return dataclasses.replace(start, feature_extractor=WhisperFeatureExtractor(**settings))


def _scratch(recipe: Recipe, labels: Labels) -> Checkpoint:
    shape = recipe.model.scratch
    assert shape is not None
    sources = shape.vocab_manifests or (recipe.data.train,)
    windows = (segment.text for source in sources for segment in manifest.stream(Path(source)))
    texts = sorted({f" {text.strip()}" for window in windows for text in TIMESTAMP.split(window)[::2] if text.strip()})
    tokenizer = new_tokenizer(texts, shape.vocab_size, shape.context_s)
    model = new_model(shape, tokenizer)
    return Checkpoint("", model, new_feature_extractor(shape), tokenizer, labels)


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
            from peft import PeftModel

            return PeftModel.from_pretrained(model, str(folder), is_trainable=True)
        tokens = _label_tokens(start, recipe) if recipe.adapter.token_embeddings else ()
        return add_adapter(model, recipe.adapter, tokens)
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
    ids: set[int] = set()
    for segment in manifest.stream(Path(recipe.data.train)):
        texts = [f" {text.strip()}" for text in TIMESTAMP.split(segment.text)[::2]]
        ids.update(*start.tokenizer(texts, add_special_tokens=False).input_ids)
    return sorted(ids)


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
    deeper: list[Any] = []
    for layer in decoder.layers:
        deeper += [layer, *(_identity_like(layer) for _ in range(layers // before - 1))]
    decoder.layers = torch.nn.ModuleList(deeper)
    for index, layer in enumerate(deeper):
        layer.self_attn.layer_idx = layer.encoder_attn.layer_idx = index
    decoder.config.decoder_layers = model.config.decoder_layers = layers
    if heads := getattr(model.generation_config, "alignment_heads", None):
        model.generation_config.alignment_heads = [[layer * (layers // before), head] for layer, head in heads]


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


def new_tokenizer(texts: Iterable[str], size: int, context_s: float) -> WhisperTokenizer:
    """Return a Whisper tokenizer with ``size`` text tokens learned from ``texts``, special tokens and timestamps."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learner.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=size, initial_alphabet=sorted(alphabet), show_progress=False)
    )
    vocabulary = learner.get_vocab()
    vocabulary |= {token: len(vocabulary) + place for place, token in enumerate(SPECIAL_TOKENS)}
    merges = [tuple(pair) for pair in json.loads(learner.to_str())["model"]["merges"]]
    tokenizer = WhisperTokenizer(vocab=vocabulary, merges=merges)
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS])
    steps = range(round(context_s / TIMESTAMP_STEP_S) + 1)
    tokenizer.add_tokens([f"<|{step * TIMESTAMP_STEP_S:.2f}|>" for step in steps])
    return tokenizer


def new_model(scratch: ScratchModel, tokenizer: WhisperTokenizer) -> WhisperForConditionalGeneration:
    """Return a Whisper model of these dimensions with random weights (seed torch first to reproduce them)."""
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL_TOKENS}
    end, start = ids["<|endoftext|>"], ids["<|startoftranscript|>"]
    config = WhisperConfig(
        vocab_size=len(tokenizer),
        num_mel_bins=scratch.mel_bins,
        d_model=scratch.d_model,
        encoder_layers=scratch.encoder_layers,
        decoder_layers=scratch.decoder_layers,
        encoder_attention_heads=scratch.attention_heads,
        decoder_attention_heads=scratch.attention_heads,
        encoder_ffn_dim=4 * scratch.d_model,
        decoder_ffn_dim=4 * scratch.d_model,
        max_source_positions=round(scratch.context_s / TIMESTAMP_STEP_S),
        max_target_positions=scratch.max_target_positions,
        pad_token_id=end,
        bos_token_id=end,
        eos_token_id=end,
        decoder_start_token_id=start,
        suppress_tokens=None,
        begin_suppress_tokens=None,
        dropout=scratch.dropout,
    )
    model = WhisperForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        decoder_start_token_id=start,
        is_multilingual=True,
        lang_to_id={"<|en|>": ids["<|en|>"]},
        task_to_id={"transcribe": ids["<|transcribe|>"], "translate": ids["<|translate|>"]},
        no_timestamps_token_id=ids["<|notimestamps|>"],
        prev_sot_token_id=ids["<|startofprev|>"],
        max_initial_timestamp_index=round(1.0 / TIMESTAMP_STEP_S),
        max_length=scratch.max_target_positions,
        suppress_tokens=[ids[token] for token in ("<|translate|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>")],
        begin_suppress_tokens=[],
        alignment_heads=[[scratch.decoder_layers - 1, head] for head in range(scratch.attention_heads)],
        return_timestamps=True,
    )
    return model


def new_feature_extractor(scratch: ScratchModel) -> WhisperFeatureExtractor:
    """Return a feature extractor with the recipe's context length and number of mel bins."""
    return WhisperFeatureExtractor(feature_size=scratch.mel_bins, chunk_length=round(scratch.context_s))
