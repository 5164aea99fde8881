"""The weights of a model folder, read one at a time for a model that was loaded without them."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open

from lsa_whisper.checkpoint.hub import model_folder
from lsa_whisper.checkpoint.tensor_shapes import stored_tensors
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
        self._places = {name.removeprefix("model."): (file, name) for file, name, _ in stored_tensors(folder)}
        self._names = {weight: name.removeprefix("model.") for name, weight in model.named_parameters()}
        names = set(self._names.values())
        verify_names(folder, names - set(self._places), set(self._places) - names)

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


def verify_names(source: Path | str, missing: Set[str], extra: Set[str]) -> None:
    """Return if no tensor is missing in ``source``, and none is there of a layer that the model does not have.

    Raises:
        CheckpointError: With the first that is missing, or the first layer too many.
    """
    if missing:
        first = min(missing)
        raise CheckpointError(f"{source}: {len(missing)} tensors are missing, first {first}; save the model again")
    if first := min((name for name in extra if ".layers." in name), default=""):
        raise CheckpointError(
            f"{source}: the weights have layers that config.json does not have, first {first}; copy the model again"
        )


def reserve_weights(model: nn.Module) -> None:
    """Give each weight of a model on the ``meta`` device a place on the CPU: its shape, with memory for one number."""
    import torch

    for module in model.modules():
        for name, weight in list(module.named_parameters(recurse=False)):
            place = torch.zeros((), dtype=weight.dtype).expand(weight.shape)
            module.register_parameter(name, torch.nn.Parameter(place, requires_grad=weight.requires_grad))
