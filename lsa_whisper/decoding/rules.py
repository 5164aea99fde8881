"""Which token may come next: the checkpoint's suppressed tokens, and the grammar of time stamps.

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
class Writable:
    """What a model may write, whatever engine computes it.

    Attributes:
        size: rows of the output matrix.
        end: the end of text.
        stamps: token id -> seconds; empty for a model that has not learned to write time stamps.
        suppressed: what is no text: suppressed by the checkpoint, special, or a row of the matrix without a token.
        suppressed_at_begin: what may not come first, besides.
    """

    size: int
    end: int
    stamps: dict[int, float]
    suppressed: tuple[int, ...]
    suppressed_at_begin: tuple[int, ...]


def writable(tokenizer: Any, settings: Any, size: int) -> Writable:
    """Return what a model with this vocabulary, these generation settings and ``size`` output rows may write."""
    end = settings.eos_token_id
    end = int(end[0] if isinstance(end, list | tuple) else end)
    listed = [*(getattr(settings, "suppress_tokens", None) or [])]
    # A model whose stamps are suppressed has not learned them: its text then lasts as long as its window.
    stamps = {i: at_s for i, at_s in timestamps(tokenizer).items() if i not in {*listed} and i < size}
    special = [i for token, i in tokenizer.get_added_vocab().items() if token.startswith("<|") and token.endswith("|>")]
    nowhere = {*listed, *special, *range(len(tokenizer), size)} - {end, *stamps}
    at_begin = {*(getattr(settings, "begin_suppress_tokens", None) or [])}
    return Writable(size, end, stamps, _within(nowhere, size), _within(at_begin, size))


def _within(ids: set[int], size: int) -> tuple[int, ...]:
    return tuple(sorted(index for index in ids if 0 <= index < size))


class Rules:
    """The most probable token that may come next, for a batch of windows.

    Time stamps come in pairs around each piece of text, never run backwards and never leave the sound: the rules of
    OpenAI's decoder (``ApplyTimestampRules``), written for any set of stamps and for a whole batch at once.

    A vocabulary has fifty thousand rows and few of them are stamps, so the grammar works on the stamps' columns alone;
    what is left to do for all rows is one sum, one maximum and one normalisation a step.
    """

    def __init__(self, checkpoint: Checkpoint):
        model = checkpoint.model
        self.device = model.device
        self._may = writable(checkpoint.tokenizer, model.generation_config, model.config.vocab_size)
        self.end, self.stamps = self._may.end, self._may.stamps
        self._seconds = torch.full((self._may.size,), -1.0, device=self.device)
        ids = sorted(self.stamps)
        self._columns = torch.tensor(ids, dtype=torch.long, device=self.device)
        self._stamps_s = torch.tensor([self.stamps[index] for index in ids], device=self.device)
        self._seconds[self._columns] = self._stamps_s
        self._text = self._mask((*self._may.suppressed, *ids))
        self._text_at_begin = self._text + self._mask(self._may.suppressed_at_begin)

    def _mask(self, ids: Sequence[int]) -> torch.Tensor:
        """Return what is added to the logits: nothing, or minus infinity for ``ids``."""
        mask = torch.zeros(self._may.size, device=self.device)
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
        if not self.stamps:
            best, chosen = text.max(dim=-1)
            return chosen, best - _logsumexp(text, best)
        stamps = logits[:, self._columns].float()
        stamps.masked_fill_(self._stamps_s > durations_s[:, None] + 1e-3, _NEVER)
        if not tokens.shape[1]:
            return self._open(text[:, self.end], stamps)
        closing = self._keep_order(stamps, tokens)
        best_text, chosen_text = text.max(dim=-1)
        all_text = _logsumexp(text, best_text)
        # After a closing stamp there is no text but its end.
        end = logits[:, self.end].float()
        best_text, all_text = torch.where(closing, end, best_text), torch.where(closing, end, all_text)
        chosen_text = chosen_text.masked_fill(closing, self.end)
        best_stamp, column = stamps.max(dim=-1)
        all_stamps = stamps.logsumexp(dim=-1)
        # Text is forbidden where all stamps together are more probable than any single token of text.
        stamped = all_stamps > best_text
        chosen = torch.where(stamped, self._columns[column], chosen_text)
        among = torch.where(stamped, all_stamps, torch.logaddexp(all_stamps, all_text))
        return chosen, torch.where(stamped, best_stamp, best_text) - among

    def _open(self, end: torch.Tensor, stamps: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Text without a time is of no use for a bullet: begin with a stamp, or say that nothing is heard."""
        best, place = torch.cat((end[:, None], stamps), dim=1).log_softmax(dim=-1).max(dim=-1)
        return torch.where(place == 0, self.end, self._columns[(place - 1).clamp(min=0)]), best

    def _keep_order(self, stamps: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Forbid the stamps that may not come now; return the rows in which a closing stamp came last.

        After a pair, or the first stamp: text. After a closing stamp: the next pair's opening stamp, or the end.
        """
        said_s = self._seconds[tokens]
        last = said_s[:, -1] >= 0
        before = said_s[:, -2] >= 0 if tokens.shape[1] > 1 else torch.ones_like(last)
        closing, latest_s = last & ~before, said_s.amax(dim=1)[:, None]
        backwards = torch.where(closing[:, None], self._stamps_s < latest_s, self._stamps_s <= latest_s)
        stamps.masked_fill_((last & before)[:, None] | backwards, _NEVER)
        return closing


def _logsumexp(scores: torch.Tensor, best: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of the summed exponentials of each row, whose maximum is known; ``scores`` is used up."""
    return scores.sub_(best[:, None]).exp_().sum(dim=-1).log_() + best
