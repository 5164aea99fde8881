"""The weights of a model folder, read one at a time for a model that was loaded without them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open

from lsa_whisper.checkpoint.hub import model_folder
from lsa_whisper.checkpoint.tensor_shapes import weight_files
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE
from lsa_whisper.errors import CheckpointError

if TYPE_CHECKING:
    import torch
    from torch import nn


class StoredWeights:
    """Where each weight of a model is stored; none is kept in memory."""

    def __init__(self, folder: Path, model: nn.Module):
        """Find the weights of ``model``, which has the shape of the model in ``folder``.

        Raises:
            CheckpointError: The folder's weights are not those of the model, or a file is damaged.
        """
        self._places = {name.removeprefix("model."): (file, name) for file, name in _names(folder)}
        self._names = {weight: name.removeprefix("model.") for name, weight in model.named_parameters()}
        if missing := sorted(set(self._names.values()) - set(self._places)):
            raise CheckpointError(
                f"{folder}: {len(missing)} tensors are missing, first {missing[0]}; save the model again"
            )
        known = set(self._names.values())
        if extra := sorted(name for name in self._places if ".layers." in name and name not in known):
            raise CheckpointError(
                f"{folder}: the weights have layers that config.json does not have, first {extra[0]}; copy the model "
                "again"
            )

    def __contains__(self, weight: object) -> bool:
        """Return whether a weight is stored; those that an adapter adds are not."""
        return weight in self._names

    def read(self, weight: nn.Parameter) -> torch.Tensor:
        """Return the stored values of a weight.

        The file is opened again for each weight: the system counts the pages of an open one as memory in use.

        Raises:
            CheckpointError: It cannot be read, or has another shape.
        """
        file, name = self._places[self._names[weight]]
        try:
            with safe_open(str(file), framework="pt") as tensors:
                value: torch.Tensor = tensors.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{file}: {name} cannot be read ({error}); copy the model again") from error
        if value.shape != weight.shape:
            raise CheckpointError(f"{file}: {name} has the shape {tuple(value.shape)}, not {tuple(weight.shape)}")
        return value


def folder_of_weights(path: str) -> Path | None:
    """Return the folder with the weights of a model; ``None`` for an adapter or a model that is to be downloaded."""
    folder = model_folder(path)
    return None if folder is None or (folder / ADAPTER_FILE).exists() else folder


def _names(folder: Path) -> Iterator[tuple[Path, str]]:
    for file in weight_files(folder):
        try:
            with safe_open(str(file), framework="pt") as tensors:
                yield from ((file, name) for name in tensors.keys())  # noqa: SIM118 -- not a dictionary
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{file}: cannot be read as safetensors ({error}); copy the model again") from error


def reserve_weights(model: nn.Module) -> None:
    """Give each weight of a model on the ``meta`` device a place on the CPU: its shape, with memory for one number."""
    import torch

    for module in model.modules():
        for name, weight in list(module.named_parameters(recurse=False)):
            place = torch.zeros((), dtype=weight.dtype).expand(weight.shape)
            module.register_parameter(name, torch.nn.Parameter(place, requires_grad=weight.requires_grad))
