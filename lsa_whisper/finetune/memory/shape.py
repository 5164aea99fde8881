"""What decides a Whisper's size, and how many numbers follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.checkpoint.folder import base_of
from lsa_whisper.checkpoint.foreign import ADAPTER_FILE, read_json
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetune.recipe import Adapter, Recipe

_SPECIALS = 9
_TIME_PRECISION_S = 0.02


@dataclass(frozen=True)
class Shape:
    """Width, layers, positions, mel bands and vocabulary of a Whisper."""

    width: int
    encoder_layers: int
    decoder_layers: int
    mels: int = 80
    vocabulary: int = 51865
    source_positions: int = 1500
    target_positions: int = 448
    feed_forward: int | None = None
    """Width between the two layers of a feed-forward block; four times ``width`` when not given."""
    stored: int = 4
    """Bytes of one number in the checkpoint's file."""

    @property
    def inner(self) -> int:
        """Width between the two layers of a feed-forward block."""
        return self.feed_forward or 4 * self.width

    @property
    def encoder_layer(self) -> int:
        """Parameters of one encoder layer."""
        return self._attention + self._mlp + 2 * self._norm

    @property
    def decoder_layer(self) -> int:
        """Parameters of one decoder layer."""
        return 2 * self._attention + self._mlp + 3 * self._norm

    @property
    def encoder(self) -> int:
        """Parameters of the encoder, its table of sinusoids included."""
        d = self.width
        convolutions = 3 * self.mels * d + d + 3 * d * d + d
        return self.encoder_layers * self.encoder_layer + self._norm + convolutions + self.source_positions * d

    @property
    def outside_layers(self) -> int:
        """Parameters that belong to no layer: convolutions, tables and last norms."""
        layers = self.encoder_layers * self.encoder_layer + self.decoder_layers * self.decoder_layer
        return self.parameters - layers

    @property
    def largest_weight(self) -> int:
        """Numbers in the largest tensor, Whisper's table of tokens."""
        return self.vocabulary * self.width

    @property
    def parameters(self) -> int:
        """Numbers of the model; the encoder's sinusoidal positions count, the tied output layer does not.

        >>> SHAPES["large-v3"].parameters, SHAPES["tiny"].parameters
        (1543490560, 37760640)
        """
        tables = (self.vocabulary + self.target_positions) * self.width
        return self.encoder + self.decoder_layers * self.decoder_layer + self._norm + tables

    def adapter_parameters(self, adapter: Adapter) -> int:
        """Numbers in a LoRA of this rank: ``rank * (in + out)`` for each target layer of every block that has it."""
        blocks = self.encoder_layers + 2 * self.decoder_layers
        square = len([t for t in adapter.targets if t in ("q_proj", "k_proj", "v_proj", "out_proj")])
        wide = len([t for t in adapter.targets if t in ("fc1", "fc2")])
        layers = self.encoder_layers + self.decoder_layers
        return adapter.rank * (2 * self.width * square * blocks + (self.width + self.inner) * wide * layers)

    @property
    def _attention(self) -> int:
        return 4 * self.width**2 + 3 * self.width

    @property
    def _mlp(self) -> int:
        return 2 * self.width * self.inner + self.width + self.inner

    @property
    def _norm(self) -> int:
        return 2 * self.width


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


def shape_of(model: str) -> Shape:
    """Return the shape of a published size, or of the checkpoint in a folder (an adapter's base, where it is one).

    Raises:
        CheckpointError: If ``model`` is neither.
    """
    name = model.removeprefix("openai/whisper-")
    if name in SHAPES:
        return SHAPES[name]
    folder = Path(model)
    if (folder / ADAPTER_FILE).is_file():
        return shape_of(base_of(folder))
    if not (folder / "config.json").is_file():
        raise CheckpointError(f"{model}: no checkpoint directory, and no size; sizes are {', '.join(SHAPES)}")
    try:
        return _from_config(read_json(folder / "config.json"))
    except KeyError as missing:
        raise CheckpointError(f"{folder / 'config.json'}: has no {missing}; this is no Whisper model") from None


def _from_config(config: dict[str, int]) -> Shape:
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


@dataclass(frozen=True)
class Counted:
    """Numbers trained and frozen, and the layers that are gathered one at a time."""

    trained: int
    frozen: int
    shape: Shape

    @property
    def total(self) -> int:
        """Trained and frozen together."""
        return self.trained + self.frozen

    @classmethod
    def of(cls, shape: Shape, adapter: Adapter | None = None, train: str = "all") -> Counted:
        """Return what is trained: an adapter beside frozen weights, the decoder, or all but the encoder's sinusoids."""
        if adapter is not None:
            return cls(shape.adapter_parameters(adapter), shape.parameters, shape)
        frozen = shape.encoder if train == "decoder" else shape.source_positions * shape.width
        return cls(shape.parameters - frozen, frozen, shape)


def recipe_shape(recipe: Recipe) -> Shape:
    """Return the shape of what a recipe trains, its own context included.

    Raises:
        CheckpointError: If it starts from a checkpoint that is not on this machine and not of a known size.
    """
    scratch = recipe.model.scratch
    if scratch is not None:
        positions = round(scratch.context_s / _TIME_PRECISION_S)
        shape = Shape(
            scratch.d_model,
            scratch.encoder_layers,
            scratch.decoder_layers,
            scratch.mels,
            scratch.vocabulary + _SPECIALS + positions + 1,
            positions,
            scratch.target_positions,
        )
    else:
        shape = shape_of(str(recipe.model.base))
    if recipe.model.context_s is None:
        return shape
    return Shape(**vars(shape) | {"source_positions": round(recipe.model.context_s / _TIME_PRECISION_S)})
