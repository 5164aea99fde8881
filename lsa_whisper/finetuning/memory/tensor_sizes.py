"""Sizes of what a model holds in training: trained and frozen parameters, their storage, and activations.

Activations are what the forward pass keeps for the backward pass, from the layers' shapes. Scaled dot-product attention
is assumed, which never stores the matrix of attention scores. With autocast the residual stream and the norms stay in
fp32 and each linear layer keeps a 16-bit copy of its own input.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration
from lsa_whisper.finetuning.memory.shape import Shape
from lsa_whisper.finetuning.memory.stages import StagePart, kept_micro_batches, stage_parts
from lsa_whisper.finetuning.recipe import AdapterSettings, ModelSettings

QUANTIZED_BYTES = {"8bit": 1.0, "4bit": 4.127 / 8}
"""Bytes per parameter of a quantized base: LLM.int8 (Dettmers et al. 2022); NF4 with double quantization, whose scales
add 0.127 bits per parameter (Dettmers et al. 2023)."""


@dataclass(frozen=True)
class ParameterCounts:
    """Trained and frozen parameters, and how the frozen ones are stored.

    Attributes:
        quantized: frozen parameters stored in ``bytes_per_quantized`` each.
        base_copy: parameters of a frozen copy of the base, for KL to base.
        embeddings: trained parameters of embeddings, whose moments an 8-bit optimizer keeps in 32 bits.
    """

    trained: int
    frozen: int
    shape: Shape
    quantized: int = 0
    bytes_per_quantized: float = 0.0
    base_copy: int = 0
    embeddings: int = 0

    @property
    def total(self) -> int:
        """Trained and frozen together."""
        return self.trained + self.frozen

    def bytes_in(self, one: int) -> float:
        """Return the bytes of all weights if unquantized ones take ``one`` byte(s) each."""
        return one * (self.total - self.quantized) + self.bytes_per_quantized * self.quantized

    def of_stage(self, part: StagePart) -> ParameterCounts:
        """Return the counts of a stage of a pipeline; an adapter has as much in it as its share of the weights."""
        share = part.parameters(self.shape) / self.shape.parameters
        trained, frozen = round(share * self.trained), round(share * self.frozen)
        return dataclasses.replace(self, trained=trained, frozen=frozen, shape=part.shape(self.shape))

    def on_one_rank(self, layer_ranks: int) -> tuple[int, int]:
        """Return the trained and all parameters of one of ``layer_ranks`` ranks that divide each layer's matrices.

        Of an adapter's two factors, the one next to the divided dimension is divided: about half of it.
        """
        matrices, kept = linear_layer_parameters(self.shape), 1 - 1 / layer_ranks
        if self.frozen < self.shape.parameters:
            share = min(1.0, self.trained / self.shape.parameters)
            return round(self.trained - share * kept * matrices), round(self.total - kept * matrices)
        trained = round(self.trained * (1 - kept / 2))
        return trained, trained + round(self.frozen - kept * matrices)

    @classmethod
    @lru_cache(maxsize=256)
    def of(
        cls,
        shape: Shape,
        adapter: AdapterSettings | None = None,
        model: ModelSettings | None = None,
        *,
        uses_base: bool = False,
    ) -> ParameterCounts:
        """Return the counts for a model, with an adapter or without.

        Args:
            shape: the model's shape.
            adapter: the adapter that is trained. Embeddings that ``embeddings`` adds are not counted: their number
                depends on the tokenizer.
            model: which weights are trained without an adapter; by default all but the encoder's sinusoids.
            uses_base: whether the loss needs the base model, which without an adapter is a copy.
        """
        if adapter is not None:
            quantized = linear_layer_parameters(shape) if adapter.quantize != "none" else 0
            return cls(
                adapter_parameters(shape, adapter),
                shape.parameters,
                shape,
                quantized,
                QUANTIZED_BYTES.get(adapter.quantize, 0),
            )
        sizes = {name: math.prod(shape.weights[name]) for name in trained_weights(shape, model or ModelSettings())}
        trained, copied = sum(sizes.values()), shape.parameters if uses_base else 0
        embeddings = sum(size for name, size in sizes.items() if ".embed_" in name)
        return cls(trained, shape.parameters - trained, shape, base_copy=copied, embeddings=embeddings)


def linear_layer_parameters(shape: Shape) -> int:
    """Return the number of parameters in the layers' matrices, which are what quantization applies to."""
    return sum(math.prod(size) for name, size in shape.weights.items() if ".layers." in name and len(size) == 2)


def trained_weights(shape: Shape, model: ModelSettings) -> Iterator[str]:
    """Yield the names of the weights that ``model.freeze_encoder`` and ``model.top_layers`` leave trainable."""
    for name in shape.weights:
        stack, _, rest = name.partition(".")
        if name == "encoder.embed_positions.weight" or (stack == "encoder" and model.freeze_encoder):
            continue
        layers = getattr(shape, f"{stack}_layers")
        layer = re.match(r"layers\.(\d+)\.", rest)
        on_top = int(layer[1]) >= layers - (model.top_layers or layers) if layer else rest.startswith("layer_norm.")
        if model.top_layers is None or on_top:
            yield name


def adapter_parameters(shape: Shape, adapter: AdapterSettings) -> int:
    """Return the parameters of an adapter: ``rank * (in + out)`` per layer, DoRA's magnitudes, modules saved whole."""
    saved = tuple(f"{name}." for name in adapter.modules_to_save)
    total = 0
    for name, size in shape.weights.items():
        stack, module = name.partition(".")[0], name.rpartition(".")[0]
        if (
            ".layers." in name
            and name.endswith(".weight")
            and module.endswith(adapter.target_modules)
            and adapter.stacks in ("both", stack)
        ):
            total += adapter.rank * sum(size) + (size[0] if adapter.dora else 0)
        if saved and f"{module}.".endswith(saved):
            total += math.prod(size)
    return total


LOGITS_AT_ONCE = 2**25
"""Logits of which the loss is computed at once, 128 MiB in fp32: those of 646 tokens of OpenAI's vocabulary."""


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch: what one device processes in one forward and backward pass.

    Attributes:
        batch: Number of windows.
        label_tokens: Tokens in the longest label.
        checkpointing: Whether gradient checkpointing recomputes layers in the backward pass.
        accumulates: Whether gradients of earlier micro-batches are kept (gradient accumulation).
        uses_base: Whether the loss compares the model's logits with its base's (KL to base).
    """

    batch: int = 1
    label_tokens: int = 128
    checkpointing: bool = True
    accumulates: bool = False
    uses_base: bool = False


@dataclass(frozen=True)
class ElementSizes:
    """Bytes per element: in the residual stream, in layer outputs, and in copies made by autocast."""

    residual: int
    computed: int
    copied: int

    @classmethod
    def of(cls, configuration: TrainingConfiguration) -> ElementSizes:
        """Return the sizes under a training configuration."""
        if configuration.precision == "fp32":
            return cls(4, 4, 0)
        return cls(4, 2, 2) if configuration.autocast else cls(2, 2, 0)


def activations(
    shape: Shape, configuration: TrainingConfiguration, micro_batch: MicroBatch, *, kept_batches: int = 1
) -> int:
    """Return the peak bytes of activations: at the start of the backward pass or in its first layer.

    Args:
        shape: Of the model, or of a stage of a pipeline.
        configuration: How it is trained.
        micro_batch: What passes at once.
        kept_batches: Micro-batches whose activations wait for their backward pass at once.
    """
    width = ElementSizes.of(configuration)
    tokens = min(micro_batch.label_tokens, shape.target_positions)
    ranks = configuration.layer_ranks
    encoder, decoder = encoder_layer(shape, width, ranks), decoder_layer(shape, width, tokens, ranks)
    front = shape.width * shape.source_positions * 6 * width.computed + shape.mels * shape.source_positions * 8
    states = shape.width * shape.source_positions * width.residual
    scores = logits(shape, width, micro_batch.batch * tokens, uses_base=micro_batch.uses_base)
    if micro_batch.checkpointing:
        inputs = shape.encoder_layers * shape.source_positions + shape.decoder_layers * tokens
        kept = inputs * shape.width * width.residual
        passing = max(scores, micro_batch.batch * round(1.5 * max(encoder, decoder)))
    else:
        kept = shape.encoder_layers * encoder + shape.decoder_layers * decoder
        passing = max(scores, micro_batch.batch * (encoder // 2))
    return micro_batch.batch * kept_batches * (kept + front + states) + passing


def stage_activations(shape: Shape, configuration: TrainingConfiguration, micro_batch: MicroBatch) -> list[int]:
    """Return the peak bytes of activations of each stage of a pipeline."""
    stages, parts = configuration.stages, configuration.micro_batches(micro_batch.batch)
    part = dataclasses.replace(micro_batch, batch=math.ceil(micro_batch.batch / parts))
    return [
        activations(
            stage.shape(shape),
            configuration,
            part,
            kept_batches=kept_micro_batches(stages, number, parts, configuration.pipeline.schedule),
        )
        for number, stage in enumerate(stage_parts(shape, stages))
    ]


def encoder_layer(shape: Shape, width: ElementSizes, ranks: int = 1) -> int:
    """Return the bytes that one encoder layer keeps for one window.

    Two norms keep their inputs; queries, keys, values, attention and the four norm copies are ``width`` wide, the two
    sides of the activation function as wide as the feed-forward block. Tensor parallelism divides all but the norms
    among ``ranks``.
    """
    narrow = 2 * width.residual + (2 + 4 / ranks) * width.computed + 2 * width.copied
    return round(shape.source_positions * (shape.width * narrow + 2 * shape.inner / ranks * width.computed))


def decoder_layer(shape: Shape, width: ElementSizes, tokens: int, ranks: int = 1) -> int:
    """Return the bytes that one decoder layer keeps: as the encoder's, plus cross-attention keys and values."""
    narrow = 3 * width.residual + (3 + 6 / ranks) * width.computed + 2 * width.copied
    cross_attention = 2 / ranks * width.computed + 2 * width.copied
    own = tokens * (shape.width * narrow + 2 * shape.inner / ranks * width.computed)
    return round(own + shape.source_positions * shape.width * cross_attention)


def logits(shape: Shape, width: ElementSizes, tokens: int, *, uses_base: bool = False) -> int:
    """Return the bytes around the loss: 16-bit logits if any, their fp32 copy, log-softmax, two gradients.

    Of many logits, some of these exist for a part only: all but the logits and their gradient in each type. Those of
    the base are compared all at once.
    """
    every, at_once = tokens * shape.vocabulary, 16 + (2 if width.computed == 2 else 0)
    if uses_base:
        return 2 * every * at_once
    always = 8 if width.computed == 4 else 12 if width.copied else 4  # autocast returns them in fp32, too
    return always * every + (at_once - always) * min(every, LOGITS_AT_ONCE)
