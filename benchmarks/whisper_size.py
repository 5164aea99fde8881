"""An untrained Whisper of a published size, and noise as training data, for measuring memory and speed."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile
import torch

from lsa_whisper import checkpoint, manifest
from lsa_whisper.finetuning.recipe import ScratchModel
from lsa_whisper.finetuning.training import model as scratch
from lsa_whisper.finetuning.workload.shape import SHAPES, Shape
from lsa_whisper.labels import Labels

TINIEST = Shape(64, 2, 2, mels=80, vocabulary=3000)
"""For testing a benchmark in seconds."""


def shape_of(size: str) -> Shape:
    """Return the shape of a published size, or a tiny one for ``test``."""
    return TINIEST if size == "test" else SHAPES[size]


def save(
    size: str,
    folder: Path,
    *,
    dtype: str = "float32",
    texts: Sequence[str] = (string.ascii_lowercase,),
    vocab_size: int = 300,
) -> Path:
    """Write a checkpoint of this size with random weights; its vocabulary is padded to Whisper's length.

    Args:
        size: See :func:`shape_of`.
        folder: Where to write it.
        dtype: Of the weights.
        texts: What its ``vocab_size`` text tokens are learned from.
        vocab_size: How many; with the defaults, each letter is a token.
    """
    shape = shape_of(size)
    settings = ScratchModel(
        d_model=shape.width,
        encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers,
        attention_heads=max(1, shape.width // 64),
        mel_bins=shape.mels,
        max_target_positions=shape.target_positions,
        vocab_size=vocab_size,
    )
    tokenizer = scratch.new_tokenizer(list(texts), settings.vocab_size, settings.context_s)
    torch.manual_seed(0)
    model = scratch.new_model(settings, tokenizer)
    model.resize_token_embeddings(shape.vocabulary, mean_resizing=False)
    parts = {"feature_extractor": scratch.new_feature_extractor(settings), "tokenizer": tokenizer}
    return checkpoint.save(
        folder, model=model.to(getattr(torch, dtype)), **parts, labels=Labels(), provenance={"made": "for a benchmark"}
    )


def windows(folder: Path, count: int, *, seconds: float = 30.0, letters: int = 120) -> Path:
    """Write ``count`` windows of noise with labels of random letters, one token each; return the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    noise, rng = np.random.default_rng(0), random.Random(0)
    rows = []
    for number in range(count):
        path = folder / f"{number}.wav"
        soundfile.write(path, 0.1 * noise.standard_normal(round(16_000 * seconds)), 16_000)
        text = "".join(rng.choices(string.ascii_lowercase, k=letters))
        rows.append(manifest.Segment(str(path), 0.0, seconds, text))
    manifest.write(rows, folder / "train.jsonl")
    return folder / "train.jsonl"
