"""Which token may come next: the checkpoint's suppressed tokens, and the grammar of time stamps.

Nothing here looks for repetitions. People who stutter say "I I I I want", and a decoder that forbids repeated words
(``no_repeat_ngram_size``, repetition penalties) writes something they did not say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from lsa_whisper.checkpoint import Checkpoint, timestamps

_NEVER = -math.inf


class Rules:
    """Masks over the vocabulary for a batch of windows, applied before the most probable token is taken.

    Time stamps come in pairs around each piece of text, never run backwards and never leave the sound: the rules of
    OpenAI's decoder (``ApplyTimestampRules``), written for any set of stamps and for a whole batch at once.
    """

    def __init__(self, checkpoint: Checkpoint):
        model, tokenizer = checkpoint.model, checkpoint.tokenizer
        self.device = model.device
        self.end = int(_first(model.generation_config.eos_token_id))
        listed = {*(getattr(model.generation_config, "suppress_tokens", None) or [])}
        # A model whose stamps are suppressed has not learned them: its text then lasts as long as its window.
        self.stamps = {index: at_s for index, at_s in timestamps(tokenizer).items() if index not in listed}
        vocabulary = model.config.vocab_size
        self._seconds = torch.full((vocabulary,), -1.0, device=self.device)
        for index, seconds in self.stamps.items():
            if index < vocabulary:
                self._seconds[index] = seconds
        self._is_stamp = self._seconds >= 0
        self._suppressed = self._mask(self._unwritable(checkpoint, vocabulary))
        at_begin = [*(getattr(model.generation_config, "begin_suppress_tokens", None) or [])]
        self._begin_suppressed = self._suppressed | self._mask(at_begin)

    def _mask(self, ids: Sequence[int]) -> torch.Tensor:
        mask = torch.zeros(self._seconds.shape, dtype=torch.bool, device=self.device)
        mask[torch.tensor([index for index in ids if index < len(mask)], dtype=torch.long, device=self.device)] = True
        return mask

    def _unwritable(self, checkpoint: Checkpoint, vocabulary: int) -> list[int]:
        """Return what is no text: suppressed by the checkpoint, special, or a row of the matrix without a token."""
        listed = [*(getattr(checkpoint.model.generation_config, "suppress_tokens", None) or [])]
        added = checkpoint.tokenizer.get_added_vocab()
        special = [index for token, index in added.items() if token.startswith("<|") and token.endswith("|>")]
        padding = range(len(checkpoint.tokenizer), vocabulary)
        return [i for i in (*listed, *special, *padding) if i != self.end and i not in self.stamps]

    def apply(self, logits: torch.Tensor, tokens: torch.Tensor, durations_s: torch.Tensor) -> torch.Tensor:
        """Return log-probabilities ``(batch, vocabulary)`` of the tokens that may come next.

        Args:
            logits: ``(batch, vocabulary)`` float32.
            tokens: ``(batch, n)`` decoded so far, without the prompt.
            durations_s: ``(batch,)`` length of each window's sound.
        """
        scores = logits.masked_fill(self._suppressed if tokens.shape[1] else self._begin_suppressed, _NEVER)
        if self.stamps:
            scores = self._apply_grammar(scores, tokens, durations_s)
        return torch.log_softmax(scores, dim=-1)

    def _apply_grammar(self, scores: torch.Tensor, tokens: torch.Tensor, durations_s: torch.Tensor) -> torch.Tensor:
        is_stamp, seconds = self._is_stamp, self._seconds
        scores = scores.masked_fill(is_stamp & (seconds > durations_s[:, None] + 1e-3), _NEVER)
        if tokens.shape[1] == 0:
            # Text without a time is of no use for a bullet: begin with a stamp, or say that nothing is heard.
            opening = ~is_stamp
            opening[self.end] = False
            return scores.masked_fill(opening, _NEVER)
        stamped = is_stamp[tokens]
        last = stamped[:, -1]
        before = stamped[:, -2] if tokens.shape[1] > 1 else torch.ones_like(last)
        latest = seconds[tokens].amax(dim=1)
        closing = last & ~before
        # After a pair, or the first stamp: text. After a closing stamp: the next pair's opening stamp, or the end.
        scores = scores.masked_fill((last & before)[:, None] & is_stamp, _NEVER)
        not_text = ~is_stamp
        not_text[self.end] = False
        scores = scores.masked_fill(closing[:, None] & not_text, _NEVER)
        backwards = is_stamp & torch.where(closing[:, None], seconds < latest[:, None], seconds <= latest[:, None])
        scores = scores.masked_fill(backwards, _NEVER)
        return self._prefer_stamps(scores)

    def _prefer_stamps(self, scores: torch.Tensor) -> torch.Tensor:
        """Forbid text where all stamps together are more probable than any single token of text."""
        stamps = scores.masked_fill(~self._is_stamp, _NEVER).logsumexp(dim=-1)
        best_text = scores.masked_fill(self._is_stamp, _NEVER).amax(dim=-1)
        return scores.masked_fill((stamps > best_text)[:, None] & ~self._is_stamp, _NEVER)


def _first(value: Any) -> int:
    """Return an id that generation settings may also give as a list."""
    return int(value[0] if isinstance(value, list | tuple) else value)
