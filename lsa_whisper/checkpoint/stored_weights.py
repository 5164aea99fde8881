"""The weights of a model folder: names and shapes, from the headers of its files, and values, read one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsa_whisper.checkpoint.untrusted import INDEX_FILE, read_json
from lsa_whisper.errors import CheckpointError, first_line

if TYPE_CHECKING:
    import torch
    from torch import nn

Shapes = Mapping[str, tuple[int, ...]]
WEIGHTS_FILE = "model.safetensors"


def weight_files(folder: Path) -> list[Path]:
    """Return the files that hold a folder's weights: those of its index, or the single file.

    Raises:
        CheckpointError: There are none, or one of the index is not there.
    """
    if (folder / WEIGHTS_FILE).is_file():
        return [folder / WEIGHTS_FILE]
    if not (folder / INDEX_FILE).is_file():
        raise CheckpointError(
            f"{folder}: has no {WEIGHTS_FILE} (pickled weights are not read); save it again as safetensors"
        )
    names = sorted(set(read_json(folder / INDEX_FILE)["weight_map"].values()))
    if absent := [name for name in names if not (folder / name).is_file()]:
        raise CheckpointError(f"{folder}: has no {absent[0]}, which {INDEX_FILE} lists; copy the model again")
    return [folder / name for name in names]


def stored_tensors(folder: Path) -> Iterator[tuple[Path, str, tuple[int, ...]]]:
    """Yield the file, the name there and the shape of each tensor of a model folder.

    Raises:
        CheckpointError: The weights are not there, or a file is damaged.
    """
    from safetensors import SafetensorError, safe_open

    for file in weight_files(folder):
        try:
            with safe_open(str(file), framework="numpy") as tensors:
                for name in tensors.keys():  # noqa: SIM118 -- not a dictionary
                    yield file, name, tuple(tensors.get_slice(name).get_shape())
        except (SafetensorError, OSError, ValueError) as error:
            raise CheckpointError(
                f"{file}: cannot be read as safetensors ({first_line(error)}); copy the model again"
            ) from error


def expected_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes that a ``config.json`` determines: of the embeddings, the convolutions and one feed-forward.

    >>> expected_shapes({"d_model": 8, "num_mel_bins": 80, "vocab_size": 50, "max_source_positions": 1500,
    ...     "max_target_positions": 448, "encoder_ffn_dim": 32, "decoder_ffn_dim": 16})["encoder.conv1.weight"]
    (8, 80, 3)
    """
    width = config["d_model"]
    shapes: dict[str, tuple[int, ...]] = {name: (config[size], width) for name, size in SETTING_OF_TENSOR.items()}
    return shapes | {"encoder.conv1.weight": (width, config["num_mel_bins"], 3)}


SETTING_OF_TENSOR = {
    "encoder.conv1.weight": "num_mel_bins",
    "encoder.embed_positions.weight": "max_source_positions",
    "decoder.embed_positions.weight": "max_target_positions",
    "decoder.embed_tokens.weight": "vocab_size",
    "encoder.layers.0.fc1.weight": "encoder_ffn_dim",
    "decoder.layers.0.fc1.weight": "decoder_ffn_dim",
}
"""The setting that determines each of these shapes, besides ``d_model``."""


def layers_in(shapes: Shapes, stack: str) -> int:
    """Return the number of layers that a model's tensors have in ``encoder`` or ``decoder``.

    >>> layers_in({"encoder.layers.0.fc1.weight": (1,), "encoder.layers.1.fc1.weight": (1,)}, "encoder")
    2
    """
    numbers = {name.split(".")[2] for name in shapes if name.startswith(f"{stack}.layers.")}
    return max(map(int, filter(str.isdecimal, numbers)), default=-1) + 1


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
        from safetensors import SafetensorError, safe_open

        file, name = self._places[self._names[weight]]
        try:
            with safe_open(str(file), framework="pt") as tensors:
                value: torch.Tensor = tensors.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{file}: {name} cannot be read ({error}); copy the model again") from error
        if value.shape != weight.shape:
            raise CheckpointError(f"{file}: {name} has the shape {tuple(value.shape)}, not {tuple(weight.shape)}")
        return value


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
