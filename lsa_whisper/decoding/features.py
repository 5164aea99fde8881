"""Audio -> log-mel spectra in the shape that the encoder expects, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch


def log_mel(extractor: Any, windows: Sequence[np.ndarray], input_s: float) -> torch.Tensor:
    """Return float32 spectra ``(batch, mels, frames)``, padded to what the encoder sees.

    Args:
        extractor: the checkpoint's own.
        windows: float32 mono samples at the extractor's rate; later samples are ignored.
        input_s: length of the encoder's input, see :func:`~lsa_whisper.checkpoint.trimming.encoder_input_s`.
    """
    spectra: torch.Tensor = extractor(
        list(windows),
        sampling_rate=extractor.sampling_rate,
        return_tensors="pt",
        padding="max_length",
        max_length=round(input_s * extractor.sampling_rate),
        truncation=True,
    ).input_features
    return spectra


class LastEncoded:
    """What the encoder made of the last window that it was given alone.

    The language of a recording of up to 30 seconds is detected in the window that is decoded, which need not be encoded
    twice.
    """

    def __init__(self) -> None:
        self._last: tuple[np.ndarray, Any] | None = None

    def encoded(self, windows: Sequence[np.ndarray], encode: Callable[[], Any]) -> Any:
        """Return what ``encode`` makes of a batch of windows, or made of the same window before."""
        last = self._last  # another thread may set it
        if last and len(windows) == 1 and np.array_equal(last[0], windows[0]):
            return last[1]
        hidden = encode()
        if len(windows) == 1:
            self._last = (windows[0], hidden)
        return hidden
