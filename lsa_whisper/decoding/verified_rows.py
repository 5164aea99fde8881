"""Decoding rules for a library that chooses tokens by its own rules: verify each row of tokens, and continue it.

The library proposes a row and returns the logits of every step. The rules choose again from these logits. At the first
step where they choose another token, the row is cut, their token is added, and the library proposes again what follows,
until every row has ended. The result is what the rules would have chosen step by step.

The logits of tokens that the library itself has left out are unknown. Where the choice depends on them, the library is
asked again, with the rest of its proposal as given tokens: for these, and for the one that follows, it must leave out
nothing but suppressed tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from lsa_whisper.decoding.rules import DecodingRules

_LEFT_OUT = -6e4  # logits below this, such as the lowest float16, are those of tokens that the library has left out
_LIKELY = 1e4  # above the logits of any model
_MARGIN = 1e-4  # less than the difference of two libraries

Logits = Callable[[], np.ndarray]
"""Returns a copy of the logits of one step, ``(vocabulary,)``; only the steps to be verified are copied."""
Proposal = tuple[Sequence[int], Sequence[Logits]]
"""The tokens of a row from its start, the end of text included where it was reached, and the logits of each step."""
Propose = Callable[[Sequence[int], Sequence[Sequence[int]]], Sequence[Proposal]]
"""Indices of rows, and the tokens that are given in each -> a proposal for each, which begins with these."""


@dataclass
class VerifiedRow:
    """The tokens of one window.

    Attributes:
        duration_s: Length of the window's audio.
        limit: The maximum number of tokens, at least 1.
        tokens: Those chosen so far, the end of text included; the first is there from the start.
        logprobs: Of each token, among those allowed.
        draft: Tokens that were proposed after these and are to be verified.
        is_new: Whether nothing was proposed yet. The first proposal has no given tokens, so that the library's rules
            see all of them.
    """

    duration_s: float
    limit: int
    tokens: list[int]
    logprobs: list[float]
    draft: list[int] = field(default_factory=list)
    is_new: bool = True

    @property
    def given(self) -> list[int]:
        """The tokens with which a proposal must begin."""
        return [] if self.is_new else [*self.tokens, *self.draft]

    def has_ended(self, end: int) -> bool:
        """Return whether no token may follow."""
        return self.tokens[-1] == end or len(self.tokens) >= self.limit


def complete_rows(rows: Sequence[VerifiedRow], rules: DecodingRules, propose: Propose) -> None:
    """Add tokens to each row until it has ended, as the rules choose them.

    The rows have their first tokens; the rules are on the CPU, and ``propose`` asks the library.
    """
    while still_open := [index for index, row in enumerate(rows) if not row.has_ended(rules.end)]:
        proposals = propose(still_open, [rows[index].given for index in still_open])
        for index, proposal in zip(still_open, proposals, strict=True):
            _extend(rows[index], rules, *proposal)


def _extend(row: VerifiedRow, rules: DecodingRules, draft: Sequence[int], steps: Sequence[Logits]) -> None:
    """Add the tokens that the proposal and the rules have in common, and then the rules' own one.

    At a step where that one is uncertain, the rest of the proposal becomes the row's draft.
    """
    count = len(row.given)
    row.draft, row.is_new = [], False
    if [*draft[: len(row.tokens)]] != row.tokens:
        return
    for position in range(len(row.tokens), min(len(draft), len(steps), row.limit)):
        logits = torch.from_numpy(steps[position]())[None]
        tokens, duration_s = torch.tensor([row.tokens]), torch.tensor([row.duration_s])
        best, logprob = (part.item() for part in rules.choose(logits.clone(), tokens, duration_s))
        if position > count:
            most = _highest_left_out(logits, draft[position] in rules.timestamps_s, [*rules.timestamps_s])
            again, _ = rules.choose(torch.where(logits < _LEFT_OUT, most, logits), tokens, duration_s)
            if int(again) != best or bool(logits[0, best] < _LEFT_OUT):
                row.draft = [token for token in draft[position : row.limit] if token != rules.end]
                return
        row.tokens.append(best)
        row.logprobs.append(min(0.0, logprob))
        if best != draft[position]:
            return


def _highest_left_out(logits: torch.Tensor, is_timestamp: bool, timestamps: Sequence[int]) -> torch.Tensor:
    """Return the highest logits, ``(1, vocabulary)``, that tokens can have which the library has left out.

    Where it decided for a timestamp, because all of them are more probable together than any text, it left out the
    text: no text has a higher logit than all timestamps together. The ids in ``timestamps`` are the columns of
    timestamps in the logits, ``(1, vocabulary)``.
    """
    highest = torch.full_like(logits, _LIKELY)
    if is_timestamp:
        highest[:] = logits[:, timestamps].logsumexp(dim=-1) - _MARGIN
        highest[:, timestamps] = _LIKELY
    return highest
