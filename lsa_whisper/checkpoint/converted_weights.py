"""The weights in a model of CTranslate2, which the library itself does not give away.

``model.bin`` holds its variables one after another, each with its name, shape and number type (the format of
``ctranslate2/specs/model_spec.py``, version 6).
"""

from __future__ import annotations

import fnmatch
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from lsa_whisper.errors import CheckpointError

_VERSION = 6
_DTYPES = ("float32", "int8", "int16", "int32", "float16", "bfloat16")


@dataclass(frozen=True, slots=True)
class _Variable:
    """Where a variable begins in the file, its shape, and its number type."""

    offset: int
    shape: tuple[int, ...]
    dtype: str


class ConvertedWeights:
    """Reads the weights of a folder's ``model.bin``, one at a time."""

    def __init__(self, folder: Path):
        """Find where each weight is.

        Raises:
            CheckpointError: The file is not there, or is of another format.
        """
        self._path = folder / "model.bin"
        try:
            with self._path.open("rb") as file:
                self._variables = _variables(file)
        except (OSError, ValueError, LookupError, struct.error) as error:
            raise CheckpointError(
                f"{self._path}: its weights cannot be read ({error}), so no word gets a time; export the model again "
                "with --to ct2, or use the engine transformers"
            ) from error

    def layers(self) -> int:
        """Return the number of the decoder's layers."""
        return len(fnmatch.filter(self._variables, "decoder/layer_*/ffn/layer_norm/gamma"))

    def number(self, name: str) -> int:
        """Return a variable that is a single number."""
        return int(self._values(name))

    def tensor(self, name: str, rows: slice | Sequence[int] = slice(None)) -> Any:
        """Return rows of a weight, ``(rows, ...)``, as a torch tensor in float32, whatever it is stored in."""
        import torch

        values = torch.from_numpy(np.array(self._values(name)[rows]))
        if self._variables[name].dtype == "bfloat16":
            values = values.view(torch.bfloat16)
        if (scale := f"{name}_scale") not in self._variables:
            return values.float()
        scales = torch.from_numpy(np.array(self._values(scale)))  # one for each row, or a single one
        scales = scales[rows] if scales.dim() else scales
        return values.float() / scales.reshape(-1, *[1] * (values.dim() - 1))

    def _values(self, name: str) -> Any:
        variable = self._variables[name]
        dtype = "uint16" if variable.dtype == "bfloat16" else variable.dtype  # NumPy does not know it
        return np.memmap(self._path, dtype, "r", variable.offset, variable.shape)


def _variables(file: IO[bytes]) -> dict[str, _Variable]:
    version, name, _ = _number(file, "I"), _text(file), _number(file, "I")
    if version > _VERSION or name != "WhisperSpec":
        raise ValueError(f"format {version} of {name}, not {_VERSION} or earlier of WhisperSpec")
    variables: dict[str, _Variable] = {}
    for _ in range(_number(file, "I")):
        name = _text(file)
        shape = tuple(_number(file, "I") for _ in range(_number(file, "B")))
        dtype, size = _DTYPES[_number(file, "B")], _number(file, "I")
        variables[name] = _Variable(file.tell(), shape, dtype)
        file.seek(size, 1)
    for _ in range(_number(file, "I")):  # equal variables are stored once
        alias = _text(file)
        variables[alias] = variables[_text(file)]
    return variables


def _number(file: IO[bytes], kind: str) -> int:
    return int(struct.unpack(f"<{kind}", file.read(struct.calcsize(kind)))[0])


def _text(file: IO[bytes]) -> str:
    return file.read(_number(file, "H"))[:-1].decode()
