"""The shape of a Whisper model, and the number of parameters that follows from it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json
from lsa_whisper.checkpoint.whisper_constants import (
    DECODER_POSITIONS,
    ENCODER_POSITIONS,
    SPECIAL_TOKENS,
    TIMESTAMP_STEP_S,
)
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning.settings.run import ModelSettings, RunSettings
from lsa_whisper.finetuning.settings.values import did_you_mean

_HUB_NAME = re.compile(r"(openai|distil-whisper|kotoba-tech|nyrahealth)/[\w.-]+")
"""Names of published models whose shapes are known; another owner's model of the same name may have another shape."""


@dataclass(frozen=True)
class Shape:
    """Width, layers, positions, mel bins and vocabulary of a Whisper model."""

    width: int
    encoder_layers: int
    decoder_layers: int
    mels: int = 80
    vocabulary: int = 51865
    source_positions: int = ENCODER_POSITIONS
    target_positions: int = DECODER_POSITIONS
    feed_forward: int | None = None
    """Inner width of a feed-forward block; four times ``width`` by default."""
    stored: int = 4
    """Bytes per parameter in the checkpoint's file."""

    @property
    def attention_heads(self) -> int:
        """Attention heads of a layer: each published Whisper has one for 64 units of its width."""
        return max(1, self.width // 64)

    @property
    def inner(self) -> int:
        """Inner width of a feed-forward block."""
        return self.feed_forward or 4 * self.width

    @property
    def weights(self) -> Mapping[str, tuple[int, ...]]:
        """The shape of every weight by its name in transformers' ``WhisperModel``; the output layer is tied.

        >>> SHAPES["tiny"].weights["encoder.conv1.weight"]
        (384, 80, 3)
        """
        return _weights(self)

    @property
    def encoder_layer(self) -> int:
        """Parameters of one encoder layer."""
        return self.count("encoder.layers.0.")

    @property
    def decoder_layer(self) -> int:
        """Parameters of one decoder layer."""
        return self.count("decoder.layers.0.")

    @property
    def outside_layers(self) -> int:
        """Parameters outside the layers: convolutions, embeddings and final norms."""
        return self.parameters - self.count("encoder.layers.") - self.count("decoder.layers.")

    @property
    def largest_layer(self) -> int:
        """Parameters of the larger kind of layer."""
        return max(self.encoder_layer, self.decoder_layer)

    @property
    def largest_weight(self) -> int:
        """Elements of the largest tensor, the token embeddings."""
        return max(map(math.prod, self.weights.values()))

    @property
    def parameters(self) -> int:
        """Parameters of the model, the encoder's sinusoidal positions included.

        >>> SHAPES["large-v3"].parameters, SHAPES["tiny"].parameters
        (1543490560, 37760640)
        """
        return self.count("")

    def count(self, start: str) -> int:
        """Return the number of parameters whose names start with ``start``."""
        return sum(math.prod(size) for name, size in self.weights.items() if name.startswith(start))


@lru_cache
def _weights(shape: Shape) -> Mapping[str, tuple[int, ...]]:
    d, mels = shape.width, shape.mels
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.conv1.weight": (d, mels, 3),
        "encoder.conv1.bias": (d,),
        "encoder.conv2.weight": (d, d, 3),
        "encoder.conv2.bias": (d,),
        "encoder.embed_positions.weight": (shape.source_positions, d),
        "decoder.embed_tokens.weight": (shape.vocabulary, d),
        "decoder.embed_positions.weight": (shape.target_positions, d),
    }
    encoder, decoder = ("self_attn",), ("self_attn", "encoder_attn")
    for stack, layers, attentions in (
        ("encoder", shape.encoder_layers, encoder),
        ("decoder", shape.decoder_layers, decoder),
    ):
        for number in range(layers):
            shapes.update(_layer(f"{stack}.layers.{number}", attentions, d, shape.inner))
        shapes.update(_with_bias(f"{stack}.layer_norm", d))
    return shapes


def _layer(name: str, attentions: Sequence[str], d: int, inner: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    for attention in attentions:
        yield f"{name}.{attention}.k_proj.weight", (d, d)  # Whisper's keys have no bias
        for projection in ("v_proj", "q_proj", "out_proj"):
            yield from _with_bias(f"{name}.{attention}.{projection}", d, d)
        yield from _with_bias(f"{name}.{attention}_layer_norm", d)
    yield from _with_bias(f"{name}.fc1", inner, d)
    yield from _with_bias(f"{name}.fc2", d, inner)
    yield from _with_bias(f"{name}.final_layer_norm", d)


def _with_bias(name: str, *size: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.weight", size
    yield f"{name}.bias", size[:1]


SHAPES = {
    "tiny": Shape(384, 4, 4),
    "base": Shape(512, 6, 6),
    "small": Shape(768, 12, 12),
    "medium": Shape(1024, 24, 24),
    "large": Shape(1280, 32, 32),
    "large-v2": Shape(1280, 32, 32),
    "large-v3": Shape(1280, 32, 32, mels=128, vocabulary=51866, stored=2),
    "large-v3-turbo": Shape(1280, 32, 4, mels=128, vocabulary=51866, stored=2),
}
_ENGLISH = 51864
"""Vocabulary of OpenAI's English models."""
_DISTIL_LARGE_V3 = dataclasses.replace(SHAPES["large-v3"], decoder_layers=2)
_OTHER_NAMES = {
    "turbo": SHAPES["large-v3-turbo"],
    "large-v1": SHAPES["large"],
    **{f"{size}.en": dataclasses.replace(SHAPES[size], vocabulary=_ENGLISH) for size in tuple(SHAPES)[:4]},
    "distil-small.en": dataclasses.replace(SHAPES["small"], decoder_layers=4, vocabulary=_ENGLISH),
    "distil-medium.en": dataclasses.replace(SHAPES["medium"], decoder_layers=2, vocabulary=_ENGLISH),
    "distil-large-v2": dataclasses.replace(SHAPES["large-v2"], decoder_layers=2),
    "distil-large-v3": _DISTIL_LARGE_V3,
    "distil-large-v3.5": _DISTIL_LARGE_V3,
    "kotoba-whisper-v1.0": _DISTIL_LARGE_V3,
    "kotoba-whisper-v2.0": _DISTIL_LARGE_V3,
    "CrisperWhisper": SHAPES["large-v3"],
}
"""Other published models by their names on the hub, without owner and ``whisper-``."""


def shape_of(model: str) -> Shape:
    """Return the shape of a published model, or of the checkpoint in a folder (an adapter's base, where it is one).

    >>> shape_of("turbo") == shape_of("openai/whisper-large-v3-turbo")
    True
    >>> round(shape_of("distil-whisper/distil-small.en").parameters / 1e6)
    166

    Raises:
        CheckpointError: If ``model`` is neither.
    """
    folder = Path(model)
    name = (model.rpartition("/")[2] if _HUB_NAME.fullmatch(model) else model).removeprefix("whisper-")
    published = SHAPES | _OTHER_NAMES
    if name in published and not (folder / "config.json").is_file():
        return published[name]
    if (folder / ADAPTER_FILE).is_file():
        return shape_of(base_of(folder))
    if not (folder / "config.json").is_file():
        hint, sizes = did_you_mean(name, published), ", ".join(published)
        raise CheckpointError(f"{model}: neither a checkpoint folder nor a known size{hint}; sizes are {sizes}")
    try:
        return shape_of_config(read_json(folder / "config.json"))
    except KeyError as missing:
        raise CheckpointError(f"{folder / 'config.json'}: has no {missing}; this is not a Whisper model") from None


def shape_of_config(config: Mapping[str, Any]) -> Shape:
    """Return the shape of a model from the entries of its ``config.json``.

    Raises:
        KeyError: If one is missing.
    """
    return Shape(
        width=config["d_model"],
        encoder_layers=config["encoder_layers"],
        decoder_layers=config["decoder_layers"],
        mels=config["num_mel_bins"],
        vocabulary=config["vocab_size"],
        source_positions=config["max_source_positions"],
        target_positions=config["max_target_positions"],
        feed_forward=config["encoder_ffn_dim"],
        stored=2 if str(config.get("dtype") or config.get("torch_dtype")) in ("float16", "bfloat16") else 4,
    )


def recipe_shape(recipe: RunSettings) -> Shape:
    """Return the shape of the model that a recipe trains, with its context and added decoder layers.

    Raises:
        CheckpointError: If its base is neither on this machine nor of a known size.
    """
    scratch = recipe.model.scratch
    if scratch is not None:
        positions = round(scratch.context_s / TIMESTAMP_STEP_S)
        shape = Shape(
            scratch.d_model,
            scratch.encoder_layers,
            scratch.decoder_layers,
            scratch.mel_bins,
            scratch.vocab_size + len(SPECIAL_TOKENS) + positions + 1,
            positions,
            scratch.max_target_positions,
        )
    else:
        shape = shape_of(str(recipe.model.base))
    return adapted_shape(shape, recipe.model)


def adapted_shape(shape: Shape, model: ModelSettings) -> Shape:
    """Return a shape with the context and the decoder layers that ``model`` sets."""
    if model.decoder_layers is not None:
        shape = dataclasses.replace(shape, decoder_layers=model.decoder_layers)
    if model.context_s is not None:
        shape = dataclasses.replace(shape, source_positions=round(model.context_s / TIMESTAMP_STEP_S))
    return shape
