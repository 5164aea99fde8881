"""Activations: what the forward pass keeps for the backward pass, from the layers' shapes, and the logits.

Scaled dot-product attention is assumed, which never stores the matrix of attention scores. With autocast the residual
stream and the norms stay in fp32 and each linear layer keeps a 16-bit copy of its own input.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch
from lsa_whisper.finetuning.workload.shape import Shape
from lsa_whisper.finetuning.workload.stages import kept_micro_batches, stage_parts

LOGITS_AT_ONCE = 2**25
"""Logits of which the loss is computed at once, 128 MiB in fp32: those of 646 tokens of OpenAI's vocabulary."""


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
        return cls(4, 2, 2) if configuration.autocasts else cls(2, 2, 0)


def activations(
    shape: Shape, configuration: TrainingConfiguration, micro_batch: MicroBatch, *, kept_batches: int = 1
) -> int:
    """Return the peak bytes of activations: at the start of the backward pass or in its first layer.

    In a pipeline, ``shape`` is that of a stage, and ``kept_batches`` micro-batches wait for their backward pass at
    once.
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
        layers = inputs * shape.width * width.residual
        passing = max(scores, micro_batch.batch * round(1.5 * max(encoder, decoder)))
    else:
        layers = shape.encoder_layers * encoder + shape.decoder_layers * decoder
        passing = max(scores, micro_batch.batch * (encoder // 2))
    return micro_batch.batch * kept_batches * (layers + front + states) + passing


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
    numbers, at_once = tokens * shape.vocabulary, 16 + (2 if width.computed == 2 else 0)
    if uses_base:
        return 2 * numbers * at_once
    always = 8 if width.computed == 4 else 12 if width.copied else 4  # autocast returns them in fp32, too
    return always * numbers + (at_once - always) * min(numbers, LOGITS_AT_ONCE)
