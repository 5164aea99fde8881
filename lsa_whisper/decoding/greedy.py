"""Greedy search under the decoding rules, for one model or for a model whose layers are sharded across ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed
from torch.nn import functional

from lsa_whisper.decoding.no_speech import NEVER_SILENT, NoSpeechRule
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.text_limits import GIVEN_UP, TOKENS_PER_S, ends_in_copies, token_limit

_CHECK_EVERY = 8  # steps between two checks for finished rows (each check makes a GPU wait)
FoundTexts = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Tokens and log-probabilities ``(batch, n)``, and the probability of no speech ``(batch,)``. Rows that end early are
filled with the end of text, behind :data:`~lsa_whisper.decoding.text_limits.GIVEN_UP` where they were given up."""


@dataclass(frozen=True)
class Search:
    """One text of each window of a batch.

    Attributes:
        prompts: Token ids that decoding starts with, ``(batch, prompt length)``.
        rules: The tokens that may come next.
        silence: When a row may end at once.
        tokens_per_s: Limit of the tokens per second of audio.
        latest_s: The latest timestamp; ``None`` for the end of each window's audio.
        usual_per_s: Tokens per second of audio after which a text that ends in copies is given up.
    """

    prompts: torch.Tensor
    rules: DecodingRules
    silence: NoSpeechRule = NEVER_SILENT
    tokens_per_s: float = TOKENS_PER_S
    latest_s: float | None = None
    usual_per_s: float = TOKENS_PER_S

    def limits(self, durations_s: torch.Tensor, positions: int, most_per_s: float | None = None) -> list[int]:
        """Return the most tokens of each window (see :func:`~lsa_whisper.decoding.text_limits.token_limit`)."""
        length, most_per_s = self.prompts.shape[1], most_per_s or self.tokens_per_s
        return [token_limit(s, length, positions, most_per_s) for s in durations_s.tolist()]

    def ends_s(self, durations_s: torch.Tensor) -> torch.Tensor:
        """Return the latest timestamp of each window."""
        return durations_s if self.latest_s is None else torch.full_like(durations_s, self.latest_s)


def greedy_search(
    model: Any,
    hidden: torch.Tensor,
    searches: Sequence[Search],
    durations_s: torch.Tensor,
    *,
    synced_ranks: bool = False,
) -> list[FoundTexts]:
    """Return what each of ``searches`` finds; all take their steps together.

    On a CPU, two texts of two windows take .6 of the time of one after the other, and of eight windows .9.

    Every row has its own limit, so that the result for a window does not depend on the other windows in its batch. The
    rules of all are those of one vocabulary. ``hidden`` is the encoder's output ``(batch, frames, width)``,
    ``durations_s`` ``(batch,)`` the length of the audio in each window. With ``synced_ranks``, run as many steps as the
    slowest rank: required where every step gathers sharded layers.
    """
    positions = model.config.max_target_positions
    step, mask = _side_by_side([search.prompts for search in searches], searches[0].rules.end)
    rows, cache = _Rows(searches, step, durations_s, positions, synced_ranks), None
    hidden = hidden.repeat(len(searches), 1, 1) if len(searches) > 1 else hidden
    for position in range(rows.longest):
        places = _places(mask, step.shape[1], positions)
        output = model(
            encoder_outputs=(hidden,), decoder_input_ids=step, past_key_values=cache, use_cache=True, **places
        )
        cache = output.past_key_values
        step = rows.extend(position, output.logits)[:, None]
        mask = functional.pad(mask, (0, 1), value=1) if mask is not None else None
        if position % _CHECK_EVERY == _CHECK_EVERY - 1:
            running = (step[:, 0] != rows.end).nonzero().flatten()
            if not _highest(torch.tensor(len(running), device=hidden.device), synced_ranks):
                break
            if 0 < len(running) <= len(step) // 2:
                rows.keep(running)
                hidden, step, mask = hidden[running], step[running], mask[running] if mask is not None else None
                cache.batch_select_indices(running)
    return rows.found()


class _Rows:
    """The texts of all searches while they are decoded, those of one search after those of another."""

    def __init__(
        self,
        searches: Sequence[Search],
        prompts: torch.Tensor,
        durations_s: torch.Tensor,
        positions: int,
        synced_ranks: bool,
    ):
        self._searches, self._prompts, self.end = searches, prompts, searches[0].rules.end
        limits = [limit for search in searches for limit in search.limits(durations_s, positions)]
        self._limit, self._batch = torch.tensor(limits, device=prompts.device), len(durations_s)
        usual = (search.limits(durations_s, positions, search.usual_per_s) for search in searches)
        self._usual, self._given_up = [length for lengths in usual for length in lengths], dict[int, int]()
        self._ends_s = torch.cat([search.ends_s(durations_s) for search in searches])
        self.longest = _highest(self._limit.max(), synced_ranks)
        self._tokens = torch.full((len(prompts), self.longest), self.end, device=prompts.device)
        self._logprobs = torch.zeros((len(prompts), self.longest), device=prompts.device)
        self._no_speech = self._logprobs[:, 0].clone()
        self._active = torch.arange(len(prompts), device=prompts.device)  # the rows that have not ended
        self._sizes = [self._batch] * len(searches)  # of these, those of each search

    def extend(self, position: int, logits: torch.Tensor) -> torch.Tensor:
        """Choose the token at ``position`` of each active row from ``(rows, tokens, vocabulary)``, and return it."""
        for row, length in enumerate(self._usual):
            if length == position and self._is_loop(self._tokens[row, :position].tolist()):
                self._limit[row] = self._given_up[row] = position
        tokens = self._tokens[self._active, :position]
        parts = (self._active.split(self._sizes), logits.split(self._sizes), tokens.split(self._sizes))
        steps = []
        for search, rows, own, before in zip(self._searches, *parts, strict=True):
            ends_s = self._ends_s[rows]
            if position:
                steps.append(search.rules.choose(own[:, -1], before, ends_s))
            else:
                *first, self._no_speech[rows] = search.rules.begin(own, self._prompts[rows], ends_s, search.silence)
                steps.append(tuple(first))
        best, logprob = (torch.cat(values) for values in zip(*steps, strict=True))
        over = self._limit[self._active] <= position
        if position:
            over |= tokens[:, -1] == self.end
        best, logprob = best.masked_fill(over, self.end), logprob.masked_fill(over, 0.0)
        self._tokens[self._active, position], self._logprobs[self._active, position] = best, logprob
        return best

    def _is_loop(self, tokens: Sequence[int]) -> bool:
        return self.end not in tokens and ends_in_copies(tokens)

    def keep(self, running: torch.Tensor) -> None:
        """Leave all active rows but ``running`` as they are."""
        self._active = self._active[running]
        self._sizes = [int((self._active // self._batch == number).sum()) for number in range(len(self._searches))]

    def found(self) -> list[FoundTexts]:
        """Return what each search found."""
        for row, length in self._given_up.items():
            self._tokens[row, length] = GIVEN_UP
        parts = (values.split(self._batch) for values in (self._tokens, self._logprobs, self._no_speech))
        return list(zip(*parts, strict=True))


def _side_by_side(prompts: Sequence[torch.Tensor], filler: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return prompts as rows of one length, filled on the left, and which tokens are theirs; ``None`` if all are."""
    length = max(prompt.shape[1] for prompt in prompts)
    rows = torch.cat([functional.pad(prompt, (length - prompt.shape[1], 0), value=filler) for prompt in prompts])
    if all(prompt.shape[1] == length for prompt in prompts):
        return rows, None
    own = [functional.pad(torch.ones_like(prompt), (length - prompt.shape[1], 0)) for prompt in prompts]
    return rows, torch.cat(own)


def _places(mask: torch.Tensor | None, length: int, most: int) -> dict[str, torch.Tensor]:
    """Return the arguments of a model that hide what fills rows on the left; their positions begin behind it."""
    if mask is None:
        return {}
    positions = (mask.cumsum(dim=1) - 1).clamp(0, most - 1)  # a row that has ended may go on behind the last one
    return {"decoder_attention_mask": mask, "decoder_position_ids": positions[:, -length:]}


def _highest(number: torch.Tensor, synced_ranks: bool) -> int:
    """Return a number, or the highest one of all ranks."""
    if synced_ranks:
        distributed.all_reduce(number, distributed.ReduceOp.MAX)
    return int(number)
