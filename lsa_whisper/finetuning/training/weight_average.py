"""Exponential moving average (EMA) of the trained weights, which are often better than those of the last step.

The average is updated after each optimizer step (Polyak and Juditsky 1992), evaluated and saved in place of the
weights; training itself continues from the weights. Each checkpoint holds it, so that a resumed run continues it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch.optim.swa_utils import get_ema_multi_avg_fn
from transformers import TrainerCallback

from lsa_whisper.errors import CheckpointError

AVERAGE_FILE = "weight_average.safetensors"


class WeightAverage(TrainerCallback):
    """The moving average of a model's trained weights, in fp32 on their device."""

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
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise CheckpointError(f"{path}: cannot be read ({reason}); remove the checkpoint to begin again") from error
        if {name: value.shape for name, value in found.items()} != {n: a.shape for n, a in self.averages.items()}:
            raise CheckpointError(f"{path}: holds other weights than are trained; remove the checkpoint to begin again")
        for name, average in self.averages.items():
            average.copy_(found[name])
