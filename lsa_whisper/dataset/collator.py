"""Batches of windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from lsa_whisper.checkpoint.trimming import TRIM_MARGIN_S
from lsa_whisper.checkpoint.whisper_constants import TIMESTAMP_STEP_S

IGNORE_INDEX = -100
"""The label of tokens that carry no loss, as in PyTorch: padding and the prompt."""

TOKEN_SPANS_S = "token_spans_s"
"""Key of the times of the label tokens in a row and in a batch; the model itself does not accept it."""

MARGIN_FRAMES = 2 * round(TRIM_MARGIN_S / TIMESTAMP_STEP_S)
"""Frames that are kept after the longest window."""


class Collator:
    """Collates windows: features, labels padded with :data:`IGNORE_INDEX`, and decoder inputs shifted by one.

    The decoder inputs are explicit because a custom loss removes the labels before the model could shift them.
    """

    def __init__(self, pad_token_id: int):
        """Collate for a model that pads the decoder inputs with ``pad_token_id``."""
        self.pad_token_id = pad_token_id

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return ``input_features`` (batch, mels, frames), ``decoder_input_ids`` and ``labels`` (batch, tokens).

        Rows with ``duration_s`` also give ``durations_s`` (batch,), and rows with ``token_spans_s`` the spans of the
        labels (batch, tokens, 2) in seconds, padded with NaN.
        """
        longest = max(len(row["tokens"]) for row in rows) - 1
        inputs = torch.full((len(rows), longest), self.pad_token_id)
        labels = torch.full((len(rows), longest), IGNORE_INDEX)
        for number, row in enumerate(rows):
            tokens = torch.tensor(row["tokens"])
            inputs[number, : len(tokens) - 1] = tokens[:-1]
            labels[number, row["prompt_length"] : len(tokens) - 1] = tokens[row["prompt_length"] + 1 :]
        features = torch.stack([row["input_features"] for row in rows])[..., : self._frames(rows)]
        batch = {"input_features": features.contiguous(), "decoder_input_ids": inputs, "labels": labels}
        if all("duration_s" in row for row in rows):
            batch["durations_s"] = torch.tensor([row["duration_s"] for row in rows])
        if all(TOKEN_SPANS_S in row for row in rows):
            spans = torch.full((len(rows), longest, 2), torch.nan)
            for number, row in enumerate(rows):
                spans[number, : len(row["tokens"]) - 1] = row[TOKEN_SPANS_S][1:]
            batch[TOKEN_SPANS_S] = spans
        return batch

    def _frames(self, rows: Sequence[dict[str, Any]]) -> int | None:
        """Return the number of frames to keep, even as Whisper's stride of two needs; ``None`` keeps all."""
        if any("frames" not in row for row in rows):
            return None
        longest = max(row["frames"] for row in rows) + MARGIN_FRAMES
        return int(longest + longest % 2)
