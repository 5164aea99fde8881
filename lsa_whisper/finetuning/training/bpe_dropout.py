"""BPE dropout (Provilkov et al. 2020): training labels split into tokens at random, other splits in each epoch.

Byte-pair encoding merges the most frequent pair first, always; with dropout each merge is left out with some
probability, so that a model also sees how rare words and word fragments are spelled. The tokenizers library has this,
but draws from a generator that cannot be seeded, and a resumed run would not be the same run.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np


class BpeDropout:
    """Encodes texts by a tokenizer's merges, leaving each out with a probability."""

    def __init__(self, tokenizer: Any, probability: float):
        """Read vocabulary and merges from a fast tokenizer."""
        self.probability, self._split = probability, tokenizer.backend_tokenizer.pre_tokenizer
        model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
        pairs = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]]
        self._ranks = {pair: rank for rank, pair in enumerate(pairs)}
        self._ids: dict[str, int] = model["vocab"]

    def encode(self, texts: Sequence[str], rng: np.random.Generator) -> list[list[int]]:
        """Return the token ids of each text, without special tokens."""
        return [
            [self._ids[token] for word, _ in self._split.pre_tokenize_str(text) for token in self._merged(word, rng)]
            for text in texts
        ]

    def _merged(self, word: str, rng: np.random.Generator) -> list[str]:
        """Return the tokens of a word: in each round the first merge that is not left out, until none is left."""
        tokens = list(word)
        while len(tokens) > 1:
            ranked = ((self._ranks.get(pair), place) for place, pair in enumerate(itertools.pairwise(tokens)))
            kept = [(rank, place) for rank, place in ranked if rank is not None and rng.random() >= self.probability]
            if not kept:
                break
            place = min(kept)[1]
            tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]
        return tokens
