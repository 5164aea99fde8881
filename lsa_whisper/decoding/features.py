"""Audio -> log-mel spectra in the shape that the encoder expects, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch


def log_mel(extractor: Any, windows: Sequence[np.ndarray], input_s: float) -> torch.Tensor:
    """Return float32 spectra ``(batch, mels, frames)``, padded to what the encoder sees.

    Args:
        extractor: The checkpoint's own.
        windows: float32 mono samples at the extractor's rate; later samples are ignored.
        input_s: Length of the encoder's input, see :func:`~lsa_whisper.checkpoint.trimming.encoder_input_s`.
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

    The language of a recording is detected in a window that is decoded, which need not be encoded twice.
    """

    def __init__(self) -> None:
        self._last: tuple[np.ndarray, Any] | None = None

    def encoded(
        self,
        windows: Sequence[np.ndarray],
        encode: Callable[[Sequence[np.ndarray]], Any],
        inserted: Callable[[Any, Any, int], Any],
        input_s: Callable[[Sequence[np.ndarray]], float],
    ) -> Any:
        """Return what ``encode`` makes of a batch of windows; one of them may have been encoded before.

        Args:
            windows: float32 mono samples.
            encode: Returns ``(batch, positions, width)``.
            inserted: Puts one encoded window at an index among others.
            input_s: Returns the length of the encoder's input for a batch, which differs if it is trimmed.
        """
        last = self._last  # another thread may set it
        at = next((at for at, window in enumerate(windows) if last and np.array_equal(last[0], window)), None)
        new = [window for number, window in enumerate(windows) if number != at]
        if last and at is not None and not new:
            return last[1]
        if last and at is not None and input_s(windows) == input_s([last[0]]) == input_s(new):
            return inserted(encode(new), last[1], at)
        hidden = encode(windows)
        if len(windows) == 1:
            self._last = (windows[0], hidden)
        return hidden
