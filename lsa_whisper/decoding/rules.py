"""Which token may come next: the checkpoint's suppressed tokens, and the grammar of timestamps.

Nothing here looks for repetitions. People who stutter say "I I I I want", and a decoder that forbids repeated words
(``no_repeat_ngram_size``, repetition penalties) writes something they did not say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lsa_whisper.checkpoint import Checkpoint, timestamps

_NEVER = -math.inf


@dataclass(frozen=True)
class AllowedTokens:
    """What a model may write, whatever engine computes it.

    Attributes:
        size: rows of the output matrix.
        end: the end of text.
        timestamps_s: token id -> seconds; empty for a model that has not learned to write timestamps.
        suppressed: what is no text: suppressed by the checkpoint, special, or a row of the matrix without a token.
        suppressed_at_begin: what may not come first, besides.
    """

    size: int
    end: int
    timestamps_s: dict[int, float]
    suppressed: tuple[int, ...]
    suppressed_at_begin: tuple[int, ...]


def allowed_tokens(tokenizer: Any, settings: Any, size: int) -> AllowedTokens:
    """Return what a model with this vocabulary, these generation settings and ``size`` output rows may write."""
    end = settings.eos_token_id
    end = int(end[0] if isinstance(end, list | tuple) else end)
    listed = [*(getattr(settings, "suppress_tokens", None) or [])]
    # A model whose timestamps are suppressed has not learned them: its text then lasts as long as its window.
    timestamps_s = {i: at_s for i, at_s in timestamps(tokenizer).items() if i not in {*listed} and i < size}
    special = [i for token, i in tokenizer.get_added_vocab().items() if token.startswith("<|") and token.endswith("|>")]
    nowhere = {*listed, *special, *range(len(tokenizer), size)} - {end, *timestamps_s}
    at_begin = {*(getattr(settings, "begin_suppress_tokens", None) or [])}
    return AllowedTokens(size, end, timestamps_s, _within(nowhere, size), _within(at_begin, size))


def _within(ids: set[int], size: int) -> tuple[int, ...]:
    return tuple(sorted(index for index in ids if 0 <= index < size))


class DecodingRules:
    """The most probable token that may come next, for a batch of windows.

    Timestamps come in pairs around each segment of text, never decrease and never exceed the audio: the rules of
    OpenAI's decoder (``ApplyTimestampRules``), written for any set of timestamps and for a whole batch at once.

    Few of the fifty thousand rows of a vocabulary are timestamps, so the timestamp rules work on those columns alone;
    the full vocabulary needs only one sum, one maximum and one normalization per step.
    """

    def __init__(self, checkpoint: Checkpoint):
        model = checkpoint.model
        self.device = model.device
        self._allowed = allowed_tokens(checkpoint.tokenizer, model.generation_config, model.config.vocab_size)
        self.end, self.timestamps_s = self._allowed.end, self._allowed.timestamps_s
        self._seconds = torch.full((self._allowed.size,), -1.0, device=self.device)
        ids = sorted(self.timestamps_s)
        self._columns = torch.tensor(ids, dtype=torch.long, device=self.device)
        self._column_times_s = torch.tensor([self.timestamps_s[index] for index in ids], device=self.device)
        self._seconds[self._columns] = self._column_times_s
        self._text = self._mask((*self._allowed.suppressed, *ids))
        self._text_at_begin = self._text + self._mask(self._allowed.suppressed_at_begin)

    def _mask(self, ids: Sequence[int]) -> torch.Tensor:
        """Return what is added to the logits: nothing, or minus infinity for ``ids``."""
        mask = torch.zeros(self._allowed.size, device=self.device)
        mask[torch.tensor([*ids], dtype=torch.long, device=self.device)] = _NEVER
        return mask

    def choose(
        self, logits: torch.Tensor, tokens: torch.Tensor, durations_s: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the next token of each row and its log-probability among those that may come: ``(batch,)`` each.

        Args:
            logits: ``(batch, vocabulary)``, any number format.
            tokens: ``(batch, n)`` decoded so far, without the prompt.
            durations_s: ``(batch,)`` length of each window's sound.
        """
        text = logits + (self._text if tokens.shape[1] else self._text_at_begin)
        if not self.timestamps_s:
            best, chosen = text.max(dim=-1)
            return chosen, best - _logsumexp(text, best)
        timestamp_logits = logits[:, self._columns].float()
        timestamp_logits.masked_fill_(self._column_times_s > durations_s[:, None] + 1e-3, _NEVER)
        if not tokens.shape[1]:
            return self._open(text[:, self.end], timestamp_logits)
        closing = self._keep_order(timestamp_logits, tokens)
        best_text, chosen_text = text.max(dim=-1)
        all_text = _logsumexp(text, best_text)
        # After a closing stamp there is no text but its end.
        end = logits[:, self.end].float()
        best_text, all_text = torch.where(closing, end, best_text), torch.where(closing, end, all_text)
        chosen_text = chosen_text.masked_fill(closing, self.end)
        best_timestamp, column = timestamp_logits.max(dim=-1)
        timestamps_logit = timestamp_logits.logsumexp(dim=-1)
        # Text is forbidden where all timestamps together are more probable than any single token of text.
        is_timestamp = timestamps_logit > best_text
        chosen = torch.where(is_timestamp, self._columns[column], chosen_text)
        among = torch.where(is_timestamp, timestamps_logit, torch.logaddexp(timestamps_logit, all_text))
        return chosen, torch.where(is_timestamp, best_timestamp, best_text) - among

    def _open(self, end: torch.Tensor, timestamp_logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Text without a time is of no use for a bullet: begin with a stamp, or say that nothing is heard."""
        best, place = torch.cat((end[:, None], timestamp_logits), dim=1).log_softmax(dim=-1).max(dim=-1)
        return torch.where(place == 0, self.end, self._columns[(place - 1).clamp(min=0)]), best

    def _keep_order(self, timestamp_logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Forbid the timestamps that may not come now; return the rows in which a closing stamp came last.

        After a pair, or the first stamp: text. After a closing stamp: the next pair's opening stamp, or the end.
        """
        said_s = self._seconds[tokens]
        last = said_s[:, -1] >= 0
        before = said_s[:, -2] >= 0 if tokens.shape[1] > 1 else torch.ones_like(last)
        closing, latest_s = last & ~before, said_s.amax(dim=1)[:, None]
        backwards = torch.where(closing[:, None], self._column_times_s < latest_s, self._column_times_s <= latest_s)
        timestamp_logits.masked_fill_((last & before)[:, None] | backwards, _NEVER)
        return closing


def _logsumexp(scores: torch.Tensor, best: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of the summed exponentials of each row, whose maximum is known; ``scores`` is used up."""
    return scores.sub_(best[:, None]).exp_().sum(dim=-1).log_() + best
