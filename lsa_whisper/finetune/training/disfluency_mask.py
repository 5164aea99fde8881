"""Batches that say which of their label tokens belong to a disfluency."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch

from lsa_whisper.dataset import Collator
from lsa_whisper.labels import Labels, disfluent_spans

DISFLUENT = "disfluent"
"""The key of the batch; the model must not see it."""


class MarkingCollator(Collator):
    """A collator whose batches hold ``disfluent`` (batch, tokens) beside the labels."""

    def __init__(self, pad_token_id: int, tokenizer: Any, labels: Labels, **options: Any):
        """Mark by the signs of ``labels``; ``options`` are those of :class:`lsa_whisper.dataset.Collator`."""
        super().__init__(pad_token_id, **options)
        self.tokenizer, self.style = tokenizer, labels

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return the batch; a token is marked when any of its letters belongs to a disfluency."""
        batch = super().__call__(rows)
        marks = torch.zeros(batch["labels"].shape, dtype=torch.bool)
        for number, row in enumerate(rows):
            flags = disfluent_tokens(row["tokens"], self.tokenizer, self.style)
            marks[number, : len(flags) - 1] = torch.tensor(flags[1:])
        return batch | {DISFLUENT: marks}


def disfluent_tokens(tokens: Sequence[int], tokenizer: Any, labels: Labels) -> list[bool]:
    """Return for each token of a label whether it belongs to a disfluency; special tokens and time stamps never do."""
    flags: list[bool] = []
    for is_text, group in groupby(tokens, lambda token: token < tokenizer.eos_token_id):
        run = list(group)
        flags += _of_text(run, tokenizer, labels) if is_text else [False] * len(run)
    return flags


def _of_text(run: list[int], tokenizer: Any, labels: Labels) -> list[bool]:
    text = tokenizer.decode(run, clean_up_tokenization_spaces=False)
    spans = disfluent_spans(text, labels)
    places = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    if places.input_ids != run:  # a text that this tokenizer would cut otherwise: nothing certain can be said
        return [False] * len(run)
    # A token's place includes the space in front of it, which no span does.
    return [any(start < b and a < end for a, b in spans) for start, end in places.offset_mapping]
