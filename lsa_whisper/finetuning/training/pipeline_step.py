"""A batch through the stages of a pipeline, with the recipe's loss."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch

from lsa_whisper.finetuning.distributed.pipeline import Pipeline
from lsa_whisper.finetuning.memory.shape import shape_of_config
from lsa_whisper.finetuning.memory.stages import stage_layers
from lsa_whisper.finetuning.training.loss import ExactLoss
from lsa_whisper.finetuning.training.training_data import DISFLUENCY_MASK


def stage_sizes(model: Any, stages: int) -> tuple[int, ...]:
    """Return the layers of each of so many stages of ``model``.

    Raises:
        RecipeError: If there are fewer layers than stages.
    """
    return stage_layers(shape_of_config(model.config.to_dict()), stages)


def train_in_stages(
    pipeline: Pipeline, batch: Mapping[str, torch.Tensor], loss: ExactLoss, items: torch.Tensor | float
) -> torch.Tensor:
    """Add the gradients of a batch to those of this rank's weights; return the loss of the batch on every rank.

    Args:
        pipeline: The stages.
        batch: The same on every rank.
        loss: The recipe's loss.
        items: Label tokens of the whole optimizer step.
    """

    def loss_of(logits: torch.Tensor, part: Mapping[str, torch.Tensor]) -> torch.Tensor:
        mask = part.get(DISFLUENCY_MASK)
        return loss(SimpleNamespace(logits=logits), part["labels"], items, disfluency_mask=mask)

    return pipeline.train(batch, loss_of)
