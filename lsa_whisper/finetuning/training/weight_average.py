"""Averages of weights: over the steps of a run, and of a finished model with its base."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch.optim.swa_utils import get_ema_multi_avg_fn
from transformers import TrainerCallback

from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError, first_line
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.training.precision import weights_dtype
from lsa_whisper.finetuning.training.second_stage import base_to_load
from lsa_whisper.system.library_internals import load_undivided

AVERAGE_FILE = "weight_average.safetensors"


class WeightAverage(TrainerCallback):
    """The exponential moving average (EMA) of a model's trained weights, in fp32 on their device.

    It is often better than the weights of the last step. It is updated after each optimizer step (Polyak and Juditsky
    1992), evaluated and saved in place of the weights; training itself continues from the weights. Each checkpoint
    holds it, so that a resumed run continues it.
    """

    def __init__(self, model: Any, decay: float):
        """Start the average at the weights of ``model``, which one process holds in full."""
        self.decay = decay
        self.weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self.averages = {name: weight.detach().float().clone() for name, weight in self.weights.items()}

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Move the average towards the weights; in the first steps faster, because it still holds the start."""
        decay = min(self.decay, (1 + state.global_step) / (10 + state.global_step))
        current = [weight.detach().float() for weight in self.weights.values()]
        get_ema_multi_avg_fn(decay)(list(self.averages.values()), current, state.global_step)

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the averages while the block runs, and its own weights back afterwards."""
        own = {name: weight.detach().clone() for name, weight in self.weights.items()}
        self.copy_to_model()
        try:
            yield
        finally:
            self._assign(own)

    def copy_to_model(self) -> None:
        """Replace the model's weights by the averages, for good."""
        self._assign(self.averages)

    def _assign(self, values: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(values[name])

    def save(self, folder: Path) -> None:
        """Write the average into a checkpoint's folder."""
        tensors = {name: average.contiguous() for name, average in self.averages.items()}
        save_file(tensors, str(folder / AVERAGE_FILE), metadata={"format": "pt"})

    def load(self, folder: Path) -> None:
        """Continue with the average that a checkpoint holds.

        Raises:
            CheckpointError: It holds none, or one of other weights.
        """
        path = folder / AVERAGE_FILE
        try:
            found = load_file(str(path))
        except Exception as error:  # safetensors has errors of its own
            raise CheckpointError(
                f"{path}: cannot be read ({first_line(error)}); remove the checkpoint to begin again"
            ) from error
        if {name: value.shape for name, value in found.items()} != {n: a.shape for n, a in self.averages.items()}:
            raise CheckpointError(f"{path}: holds other weights than are trained; remove the checkpoint to begin again")
        for name, average in self.averages.items():
            average.copy_(found[name])


_UPDATE = ".lora_B."


def move_to_base(recipe: Recipe, model: Any, weights: dict[str, Any] | None) -> None:
    """Give trained weights their share of the base's, in place, so that they keep more of what the base knew.

    The model is interpolated with what it was trained from (WiSE-FT, Wortsman et al. 2022): ``share * base + (1 -
    share) * trained``. The base is read one weight at a time. The update that an adapter holds is a product of two
    factors, of which one is scaled.

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
