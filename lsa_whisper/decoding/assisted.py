"""The transformers engine with a draft model: a small one guesses some tokens, the large one reads them all at once.

What the large model would have written itself is kept, so the text is that of greedy decoding; only the time changes
(Leviathan et al. 2023, speculative decoding, for the greedy case). Windows are decoded one by one: rows of a batch
would wait for each other's wrong guesses. So it pays for a large model where batches are small, on a GPU above all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import CheckpointError

_FEWEST, _MOST = 2, 12  # tokens that are guessed at once


class AssistedDecoder(TransformersDecoder):
    """Decodes windows with a checkpoint and the guesses of a smaller one."""

    def __init__(self, checkpoint: Checkpoint, *, draft: Checkpoint, **options: Any):
        """Take two loaded checkpoints.

        Raises:
            CheckpointError: they differ in their vocabularies, or in how much they hear at once.
        """
        super().__init__(checkpoint, **options)
        if draft.tokenizer.get_vocab() != checkpoint.tokenizer.get_vocab():
            raise CheckpointError(f"{draft.path}: has another vocabulary than {checkpoint.path}; choose another draft")
        if draft.context_s < checkpoint.context_s:
            raise CheckpointError(f"{draft.path}: hears shorter windows than {checkpoint.path}; choose another draft")
        self._draft = TransformersDecoder(draft, **options)

    @torch.inference_mode()
    def _decode_batch(self, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        return [self._decode_one(window) for window in windows]

    def _decode_one(self, window: np.ndarray) -> DecodedWindow:
        duration_s = min(len(window) / self._rate_hz, self._checkpoint.context_s)
        limit, guessed = self._limit(duration_s), 4
        large, small = (_CachedDecoder(each, window, duration_s) for each in (self, self._draft))
        tokens: list[int] = []
        logprobs: list[float] = []
        while len(tokens) < limit and self.rules.end not in tokens[-1:]:
            guesses = small.propose(tokens, min(guessed, limit - len(tokens) - 1))
            kept, scores = large.accept(tokens, guesses)
            tokens, logprobs = tokens + kept, logprobs + scores
            # As transformers does: more after a guess that was all right, fewer after one that was not.
            guessed = min(_MOST, guessed + 2) if len(kept) > len(guesses) else max(_FEWEST, guessed - 1)
        return self._result(tokens, logprobs, duration_s, large.hidden)


class _CachedDecoder:
    """One model at one window: it remembers what it has read."""

    def __init__(self, decoder: TransformersDecoder, window: np.ndarray, duration_s: float):
        self._model, self._rules, self._prompt = decoder.model, decoder.rules, decoder.prompt
        self.hidden = self._model.get_encoder()(decoder.features([window])).last_hidden_state
        self._duration_s = torch.tensor([duration_s], device=self.hidden.device)
        self._cache: Any = None
        self._read = 0

    def propose(self, tokens: list[int], count: int) -> list[int]:
        """Return the next tokens, at most ``count``, as this model alone would write them."""
        guesses: list[int] = []
        while len(guesses) < count and self._rules.end not in guesses[-1:]:
            logits = self._logits([*tokens, *guesses], last=1)
            guesses.append(self._choose(logits[:, -1], [*tokens, *guesses])[0])
        return guesses

    def accept(self, tokens: list[int], guesses: list[int]) -> tuple[list[int], list[float]]:
        """Return what this model writes after ``tokens`` as long as the guesses are its own, and one token more."""
        logits = self._logits([*tokens, *guesses], last=len(guesses) + 1)
        kept: list[int] = []
        scores: list[float] = []
        for place in range(len(guesses) + 1):
            token, score = self._choose(logits[:, place], [*tokens, *kept])
            kept.append(token)
            scores.append(score)
            if token == self._rules.end or place == len(guesses) or token != guesses[place]:
                break
        return kept, scores

    def _logits(self, tokens: list[int], *, last: int) -> torch.Tensor:
        """Return the logits ``(1, last, vocabulary)`` after the last tokens; what was read before is not read again."""
        text = [*self._prompt, *tokens]
        first = min(self._read, len(text) - last)
        if self._cache is not None and first < self._read:
            self._cache.crop(first - self._read)  # so many fewer
        output = self._model(
            encoder_outputs=(self.hidden,),
            decoder_input_ids=torch.tensor([text[first:]], device=self.hidden.device),
            past_key_values=self._cache,
            use_cache=True,
        )
        self._cache, self._read = output.past_key_values, len(text)
        return output.logits[:, -last:]

    def _choose(self, logits: torch.Tensor, tokens: list[int]) -> tuple[int, float]:
        written = torch.tensor([tokens], dtype=torch.long, device=logits.device)
        chosen, logprob = self._rules.choose(logits, written, self._duration_s)
        return int(chosen), float(logprob)
