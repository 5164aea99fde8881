"""Batches with a mask of the label tokens that belong to a disfluency."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch

from lsa_whisper.dataset import Collator
from lsa_whisper.labels import Labels, disfluent_spans

DISFLUENCY_MASK = "disfluency_mask"
"""Key of the mask in a batch; the model itself does not accept it."""


class DisfluencyMaskCollator(Collator):
    """A collator whose batches hold ``disfluency_mask`` (batch, tokens), parallel to the labels."""

    def __init__(self, pad_token_id: int, tokenizer: Any, labels: Labels):
        """Recognize disfluencies in the style of ``labels``."""
        super().__init__(pad_token_id)
        self.tokenizer, self.style = tokenizer, labels

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return the batch; a token is masked if any of its characters belongs to a disfluency."""
        batch = super().__call__(rows)
        mask = torch.zeros(batch["labels"].shape, dtype=torch.bool)
        for number, row in enumerate(rows):
            flags = disfluent_tokens(row["tokens"], self.tokenizer, self.style)
            mask[number, : len(flags) - 1] = torch.tensor(flags[1:])
        return batch | {DISFLUENCY_MASK: mask}


def disfluent_tokens(tokens: Sequence[int], tokenizer: Any, labels: Labels) -> list[bool]:
    """Return whether each token of a label belongs to a disfluency; special tokens and timestamps never do."""
    flags: list[bool] = []
    for is_text, group in groupby(tokens, lambda token: token < tokenizer.eos_token_id):
        run = list(group)
        flags += _of_text(run, tokenizer, labels) if is_text else [False] * len(run)
    return flags


def _of_text(tokens: list[int], tokenizer: Any, labels: Labels) -> list[bool]:
    text = tokenizer.decode(tokens, clean_up_tokenization_spaces=False)
    spans = disfluent_spans(text, labels)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    if encoded.input_ids != tokens:  # this tokenizer splits the text differently: positions would be wrong
        return [False] * len(tokens)
    # A token's offsets include the space before it; a span never does.
    return [any(start < b and a < end for a, b in spans) for start, end in encoded.offset_mapping]
