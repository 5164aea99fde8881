"""Speculative decoding with transformers: a draft model proposes tokens, the large model checks them in one pass.

Only tokens that the large model would have chosen itself are accepted, so the text equals that of greedy decoding and
only the time changes (Leviathan et al. 2023, the greedy case). Windows are decoded one by one, because the rows of a
batch would wait for each other's rejected proposals. This pays for a large model with small batches, mostly on a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch

from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.text_limits import is_loop
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.decoding.two_texts import likelier_text
from lsa_whisper.errors import CheckpointError

_MIN_PROPOSED, _MAX_PROPOSED = 2, 12


class AssistedDecoder(TransformersDecoder):
    """Decodes windows with a checkpoint and a smaller draft checkpoint."""

    def __init__(self, checkpoint: Checkpoint, *, draft: Checkpoint, **options: Any):
        """Take two loaded checkpoints.

        Raises:
            CheckpointError: They differ in their vocabularies, or the draft has a shorter context.
        """
        super().__init__(checkpoint, **options)
        if draft.tokenizer.get_vocab() != checkpoint.tokenizer.get_vocab():
            raise CheckpointError(
                f"{draft.path}: its vocabulary differs from that of {checkpoint.path}; choose another draft"
            )
        if draft.context_s < checkpoint.context_s:
            raise CheckpointError(
                f"{draft.path}: its context is shorter than that of {checkpoint.path}; choose another draft"
            )
        self._draft = TransformersDecoder(draft, **options)

    def with_language(self, language: str) -> Self:
        """Return a decoder with the same models for another language (Whisper's code)."""
        other = super().with_language(language)
        other._draft = self._draft.with_language(language)
        return other

    def texts(self, hidden: torch.Tensor, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        """Return the text of each window of a batch; see :meth:`TransformersDecoder.texts`."""
        texts = list(map(self._text_of, hidden.split(1), windows))
        return list(map(likelier_text, texts, self.second.texts(hidden, windows))) if self.second else texts

    def _text_of(self, hidden: torch.Tensor, window: np.ndarray) -> DecodedWindow:
        duration_s = self._duration_s(window)
        limit, count = self._limit(duration_s), 4
        draft_hidden = self._draft.encode([window])
        large, small = (_CachedDecoder(*pair, duration_s) for pair in ((self, hidden), (self._draft, draft_hidden)))
        tokens: list[int] = []
        logprobs: list[float] = []
        while len(tokens) < limit and self.rules.end not in tokens[-1:]:
            draft = small.propose(tokens, min(count, limit - len(tokens) - 1))
            accepted, scores = large.accept(tokens, draft)
            tokens, logprobs = tokens + accepted, logprobs + scores
            # As in transformers: more proposals after all were accepted, fewer after a rejection.
            all_accepted = len(accepted) > len(draft)
            count = min(_MAX_PROPOSED, count + 2) if all_accepted else max(_MIN_PROPOSED, count - 1)
            if is_loop(tokens, usual := self._usual_length(duration_s)):
                tokens, logprobs = tokens[:usual], logprobs[:usual]
                break
        (times_s,) = self._times_s([tokens], [duration_s], hidden, [window])
        return self._result(tokens, logprobs, duration_s, large.no_speech_prob, times_s)


class _CachedDecoder:
    """One model on one window, with its key-value cache."""

    def __init__(self, decoder: TransformersDecoder, hidden: torch.Tensor, duration_s: float):
        self._model, self._rules, self._prompt = decoder.model, decoder.rules, decoder.prompt
        self._silence, self.no_speech_prob = decoder.silence, 0.0
        self._first: tuple[int, float] | None = None
        self._duration_s = torch.tensor([duration_s], device=hidden.device)
        self._hidden = hidden
        self._cache: Any = None
        self._cached = 0

    def propose(self, tokens: list[int], count: int) -> list[int]:
        """Return the next tokens, at most ``count``, that this model decodes on its own."""
        draft: list[int] = []
        while len(draft) < count and self._rules.end not in draft[-1:]:
            logits = self._logits([*tokens, *draft], last=1)
            draft.append(self._choose(logits[:, -1], [*tokens, *draft])[0])
        return draft

    def accept(self, tokens: list[int], draft: list[int]) -> tuple[list[int], list[float]]:
        """Return the accepted prefix of the proposals plus this model's next token, and their log-probabilities."""
        logits = self._logits([*tokens, *draft], last=len(draft) + 1)
        result: list[int] = []
        scores: list[float] = []
        for index in range(len(draft) + 1):
            token, score = self._choose(logits[:, index], [*tokens, *result])
            result.append(token)
            scores.append(score)
            if token == self._rules.end or index == len(draft) or token != draft[index]:
                break
        return result, scores

    def _logits(self, tokens: list[int], *, last: int) -> torch.Tensor:
        """Return the logits ``(1, last, vocabulary)`` after the last tokens; reuses the cached positions."""
        text = [*self._prompt, *tokens]
        first = min(self._cached, len(text) - last)
        if self._cache is not None and first < self._cached:
            self._cache.crop(first - self._cached)  # a negative number removes that many
        output = self._model(
            encoder_outputs=(self._hidden,),
            decoder_input_ids=torch.tensor([text[first:]], device=self._hidden.device),
            past_key_values=self._cache,
            use_cache=True,
        )
        if self._cache is None:
            prompt = torch.tensor([self._prompt], device=self._hidden.device)
            at_prompt = output.logits[:, : len(self._prompt)]
            token, logprob, no_speech = self._rules.begin(at_prompt, prompt, self._duration_s, self._silence)
            self._first, self.no_speech_prob = (int(token), float(logprob)), float(no_speech)
        self._cache, self._cached = output.past_key_values, len(text)
        return output.logits[:, -last:]

    def _choose(self, logits: torch.Tensor, tokens: list[int]) -> tuple[int, float]:
        if not tokens and self._first is not None:
            return self._first
        before = torch.tensor([tokens], dtype=torch.long, device=logits.device)
        token, logprob = self._rules.choose(logits, before, self._duration_s)
        return int(token), float(logprob)
