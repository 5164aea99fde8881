"""The stages of a pipeline: layers divided so that each stage takes about as long, and how long stages wait."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.workload.shape import Shape, shape_of_config

LABEL_TOKENS = 128
"""Label tokens of the windows that stages are balanced for."""


def layer_costs(shape: Shape) -> tuple[int, ...]:
    """Return the multiplications of a forward pass of one window, for each layer of the encoder, then the decoder.

    The convolutions belong to the first layer and the output layer to the last. A backward pass takes twice as many.
    """
    width, frames = shape.width, shape.source_positions
    tokens = min(LABEL_TOKENS, shape.target_positions)
    block = 4 * width**2 + 2 * width * shape.inner
    encoder = frames * block + 2 * frames**2 * width
    cross = 2 * (tokens + frames) * width**2 + 2 * tokens * frames * width
    decoder = tokens * block + 2 * tokens**2 * width + cross
    costs = [encoder] * shape.encoder_layers + [decoder] * shape.decoder_layers
    costs[0] += 3 * frames * width * (2 * shape.mels + width)
    costs[-1] += tokens * width * shape.vocabulary
    return tuple(costs)


def stage_layers(shape: Shape, stages: int) -> tuple[int, ...]:
    """Return the number of successive layers in each stage, so that the slowest takes as little time as possible.

    Raises:
        RecipeError: If there are fewer layers than stages.

    >>> from lsa_whisper.finetuning.workload.shape import SHAPES
    >>> stage_layers(SHAPES["large-v3"], 4)
    (10, 10, 10, 34)
    """
    costs = layer_costs(shape)
    if len(costs) < stages:
        raise RecipeError(
            f"strategy: pipeline cannot divide {len(costs)} layers among {stages} ranks; use fewer processes"
        )
    return balanced(costs, stages)


def stage_sizes(config: Any, stages: int) -> tuple[int, ...]:
    """Return the layers of each of so many stages of a model with transformers' ``config``.

    Raises:
        RecipeError: If there are fewer layers than stages.
    """
    return stage_layers(shape_of_config(config.to_dict()), stages)


def balanced(costs: Sequence[int], parts: int) -> tuple[int, ...]:
    """Return the sizes of ``parts`` successive parts of ``costs`` whose largest sum is as small as possible.

    >>> balanced([4, 1, 1, 1, 3], 3)
    (1, 3, 1)
    """
    sums = [0]
    for cost in costs:
        sums.append(sums[-1] + cost)

    @functools.cache
    def best(begin: int, parts: int) -> tuple[int, tuple[int, ...]]:
        if parts == 1:
            return sums[-1] - sums[begin], (len(costs) - begin,)
        divisions = []
        for end in range(begin + 1, len(costs) - parts + 2):
            slowest, sizes = best(end, parts - 1)
            divisions.append((max(sums[end] - sums[begin], slowest), (end - begin, *sizes)))
        return min(divisions, key=lambda division: division[0])

    return best(0, parts)[1]


@dataclass(frozen=True)
class StagePart:
    """The layers of one stage, and whether it has the first or the last one of the decoder."""

    encoder_layers: int
    decoder_layers: int
    is_first: bool
    starts_decoder: bool
    is_last: bool

    def shape(self, model: Shape) -> Shape:
        """Return the shape of the stage; the vocabulary is where the output layer is."""
        return dataclasses.replace(
            model,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            vocabulary=model.vocabulary if self.is_last else 0,
        )

    def parameters(self, model: Shape) -> int:
        """Return the parameters; the token embeddings are in the first stage of the decoder and in the last."""
        total = self.encoder_layers * model.encoder_layer + self.decoder_layers * model.decoder_layer
        if self.is_first:
            total += model.count("encoder.conv") + model.count("encoder.embed_positions")
        if self.starts_decoder:
            total += model.count("decoder.embed_positions")
        return total + (model.count("decoder.embed_tokens") if self.starts_decoder or self.is_last else 0)


def stage_parts(shape: Shape, stages: int) -> tuple[StagePart, ...]:
    """Return the stages of a model."""
    parts, begin, total = [], 0, shape.encoder_layers + shape.decoder_layers
    for size in stage_layers(shape, stages):
        end = begin + size
        encoder = max(0, min(end, shape.encoder_layers) - begin)
        starts = begin <= shape.encoder_layers < end
        parts.append(StagePart(encoder, size - encoder, begin == 0, starts, end == total))
        begin = end
    return tuple(parts)


def idle_share(shape: Shape, stages: int, micro_batches: int) -> float:
    """Return the share of a step in which a stage waits, on average: the bubble at both ends, and for slower stages.

    Stages of the same speed wait (p - 1) / (m + p - 1) of the time, with p stages and m micro-batches (Huang et al.
    2019), under both schedules.
    """
    costs, begin, slowest = layer_costs(shape), 0, 0
    for size in stage_layers(shape, stages):
        slowest = max(slowest, sum(costs[begin : begin + size]))
        begin += size
    return 1 - micro_batches * sum(costs) / (stages * slowest * (micro_batches + stages - 1))


def kept_micro_batches(stages: int, stage: int, micro_batches: int, schedule: str) -> int:
    """Return the micro-batches whose activations a stage keeps at once.

    >>> [kept_micro_batches(4, stage, 8, "1f1b") for stage in range(4)], kept_micro_batches(4, 3, 8, "gpipe")
    ([4, 3, 2, 1], 8)
    """
    return micro_batches if schedule == "gpipe" else min(micro_batches, stages - stage)
