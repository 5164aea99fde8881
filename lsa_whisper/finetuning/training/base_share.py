"""A share of the base's weights in the finished model, so that it keeps more of what the base knew.

A model is interpolated with what it was trained from (WiSE-FT, Wortsman et al. 2022): ``share * base + (1 - share) *
trained``. The update that an adapter holds is a product of two factors, of which one is scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from lsa_whisper import checkpoint
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.training.precision import weights_dtype
from lsa_whisper.finetuning.training.second_stage import base_to_load
from lsa_whisper.system.library_internals import load_undivided

_UPDATE = ".lora_B."


def move_to_base(recipe: Recipe, model: Any, weights: dict[str, Any] | None) -> None:
    """Give trained weights their share of the base's, in place; the base is read one weight at a time.

    Args:
        recipe: Names the base and its share.
        model: The trained model.
        weights: The gathered weights of a model that is divided over ranks; ``None`` if ``model`` has all of them.

    Raises:
        CheckpointError: The base cannot be read again.
    """
    if not (share := recipe.training.base_share):
        return
    trained = dict(model.named_parameters(remove_duplicate=False)) if weights is None else weights
    with torch.no_grad():
        if recipe.adapter is not None:
            for name, weight in trained.items():
                if _UPDATE in name:
                    weight.mul_(1 - share)
            return
        moved: set[int] = set()  # the token embeddings have two names
        for name, value in _base_weights(recipe):
            if (weight := trained.get(name)) is not None and weight.data_ptr() not in moved:
                moved.add(weight.data_ptr())
                weight.copy_(weight.float().lerp(value.to(weight.device).float(), share))


def _base_weights(recipe: Recipe) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the weights that training started from, by name; those of an adapter's folder are merged first."""
    load_undivided()  # of all ranks, only one is here
    is_merged = checkpoint.folder_of_weights(base_to_load(recipe)) is None
    start = checkpoint.load(base_to_load(recipe), dtype=weights_dtype(recipe), weights=is_merged)
    for name, weight in start.model.named_parameters(remove_duplicate=False):
        yield name, weight.detach() if start.unread is None else start.unread.read(weight)
