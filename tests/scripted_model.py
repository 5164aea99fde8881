"""Models for the search: one with random probabilities, and one that knows the text."""

from __future__ import annotations

from types import SimpleNamespace

import torch


class Cache:
    """The tokens of each candidate so far."""

    def __init__(self, rows):
        self.rows = rows

    def batch_select_indices(self, indices):
        self.rows = [self.rows[at] for at in indices.tolist()]


class ScriptedModel:
    """Prefers the tokens of ``script``; without one, and behind other tokens, its probabilities are random."""

    def __init__(self, size, script=(), prompt=1, seed=0):
        self.device = torch.device("cpu")
        self._size, self._script, self._prompt = size, list(script), prompt
        self._random = torch.Generator().manual_seed(seed)

    def __call__(self, *, encoder_outputs, decoder_input_ids, past_key_values, use_cache):
        before = past_key_values.rows if past_key_values else [[]] * len(decoder_input_ids)
        rows = [[*old, *new] for old, new in zip(before, decoder_input_ids.tolist(), strict=True)]
        logits = torch.stack([self._logits(row[self._prompt :]) for row in rows])
        return SimpleNamespace(logits=logits[:, None], past_key_values=Cache(rows))

    def _logits(self, text):
        at = len(text)
        logits = 4 * torch.randn(self._size, generator=self._random)
        if at < len(self._script) and text == self._script[:at]:
            logits[self._script[at]] = 50.0
        return logits
