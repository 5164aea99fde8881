"""What the forward pass keeps for the backward pass, from the layers' shapes.

Assumes scaled dot-product attention, which never stores the matrix of attention scores. With autocast the residual
stream and the norms stay in fp32 and each linear layer keeps a 16-bit copy of its own input.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsa_whisper.finetune.memory.configuration import TrainingConfiguration
from lsa_whisper.finetune.memory.shape import Shape


@dataclass(frozen=True)
class MicroBatch:
    """What is computed at once on one device: a micro-batch.

    Attributes:
        batch: Windows.
        label_tokens: Length of the longest label.
        checkpointing: Whether layers are computed again in the backward pass instead of kept.
        accumulates: Whether gradients of earlier micro-batches lie there already.
        uses_base: Whether the loss holds the model's scores against its base's.
    """

    batch: int = 1
    label_tokens: int = 128
    checkpointing: bool = True
    accumulates: bool = False
    uses_base: bool = False


@dataclass(frozen=True)
class Widths:
    """Bytes of one number: in the residual stream, in what layers compute, and in copies that autocast makes."""

    residual: int
    computed: int
    copied: int

    @classmethod
    def of(cls, configuration: TrainingConfiguration) -> Widths:
        """Return those of a way to train."""
        if configuration.precision == "fp32":
            return cls(4, 4, 0)
        return cls(4, 2, 2) if configuration.autocast else cls(2, 2, 0)


def activations(shape: Shape, configuration: TrainingConfiguration, micro_batch: MicroBatch) -> int:
    """Return the most bytes that activations take at once, at the start of the backward pass or in its first layer."""
    width = Widths.of(configuration)
    tokens = min(micro_batch.label_tokens, shape.target_positions)
    encoder, decoder = encoder_layer(shape, width), decoder_layer(shape, width, tokens)
    front = shape.width * shape.source_positions * 6 * width.computed + shape.mels * shape.source_positions * 8
    states = shape.width * shape.source_positions * width.residual
    scores = logits(shape, width, tokens) * (2 if micro_batch.uses_base else 1)
    if micro_batch.checkpointing:
        inputs = shape.encoder_layers * shape.source_positions + shape.decoder_layers * tokens
        kept = inputs * shape.width * width.residual
        passing = max(scores, round(1.5 * max(encoder, decoder)))
    else:
        kept = shape.encoder_layers * encoder + shape.decoder_layers * decoder
        passing = max(scores, encoder // 2)
    return micro_batch.batch * (kept + passing + front + states)


def encoder_layer(shape: Shape, width: Widths) -> int:
    """Return the bytes that one encoder layer keeps of one window.

    Two norms keep their inputs; queries, keys, values, attention and the four norm copies are ``width`` wide, the two
    sides of the activation function as wide as the feed-forward block.
    """
    narrow = 2 * width.residual + 6 * width.computed + 2 * width.copied
    return shape.source_positions * (shape.width * narrow + 2 * shape.inner * width.computed)


def decoder_layer(shape: Shape, width: Widths, tokens: int) -> int:
    """Return the bytes that one decoder layer keeps: like the encoder's, and keys and values of each heard position."""
    narrow = 3 * width.residual + 9 * width.computed + 2 * width.copied
    heard = 2 * width.computed + 2 * width.copied
    own = tokens * (shape.width * narrow + 2 * shape.inner * width.computed)
    return own + shape.source_positions * shape.width * heard


def logits(shape: Shape, width: Widths, tokens: int) -> int:
    """Return the bytes around the loss: 16-bit scores if any, their fp32 copy, log-softmax, two gradients."""
    return tokens * shape.vocabulary * (16 + (width.computed if width.computed == 2 else 0))
