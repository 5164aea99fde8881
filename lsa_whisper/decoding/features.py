"""Audio -> log-mel spectra in the shape that the encoder expects, the same for every engine."""

from __future__ import annotations

from collections.abc import Sequence
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
