"""Which of many token sequences each row of a batch ends with, told on the device: a copy to the host makes it wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_ANY, _NOTHING = -1, -2


class Suffixes:
    """Token sequences of different lengths, one after the other."""

    def __init__(self, sequences: Sequence[tuple[int, ...]], device: torch.device | str = "cpu"):
        """Take the sequences, none of them empty; tokens are on ``device``."""
        import torch

        self._longest = max(map(len, sequences), default=0)
        padded = [[_ANY] * (self._longest - len(sequence)) + [*sequence] for sequence in sequences]
        rows = torch.tensor(padded, dtype=torch.long, device=device).reshape(len(sequences), self._longest)
        self._padded = rows.T.contiguous()[:, None]  # along the first dimension, they are compared twice as fast
        self._any = self._padded == _ANY

    def ended(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return for each row of ``tokens`` ``(batch, n)`` which sequences it ends with, ``(batch, sequences)``.

        >>> import torch
        >>> Suffixes([(7,), (5, 7), (7, 7)]).ended(torch.tensor([[5, 7], [1, 2]])).tolist()
        [[True, True, False], [False, False, False]]
        """
        from torch.nn import functional

        recent = tokens[:, max(0, tokens.shape[1] - self._longest) :]
        recent = functional.pad(recent, (self._longest - recent.shape[1], 0), value=_NOTHING)
        return ((self._padded == recent.T[:, :, None]) | self._any).all(dim=0)
