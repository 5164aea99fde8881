"""What CTranslate2 takes and tells: batches of encoded windows, and the logits of tokens in each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import ctranslate2
import numpy as np
import torch

_NEVER = -1e30


def storage_view(values: np.ndarray) -> Any:
    """Return an array as CTranslate2 takes it."""
    return ctranslate2.StorageView.from_array(np.ascontiguousarray(values))


def part_of(hidden: Any, indices: Sequence[int]) -> Any:
    """Return the encoder's output of some windows of a batch, in their order."""
    return hidden if len(indices) == hidden.shape[0] else storage_view(array_of(hidden)[[*indices]])


def in_one_batch(parts: Sequence[Any]) -> Any:
    """Return the encoder's output of several batches as that of one."""
    return parts[0] if len(parts) == 1 else storage_view(np.concatenate([array_of(part) for part in parts]))


def inserted(hidden: Any, row: Any, at: int) -> Any:
    """Return the encoder's output of a batch, with that of another window at an index."""
    return storage_view(np.insert(array_of(hidden), at, array_of(row)[0], axis=0))


def array_of(hidden: Any) -> np.ndarray:
    """Return the encoder's output in float32, in the main memory."""
    return np.asarray(hidden.to_device(ctranslate2.Device.cpu).to(ctranslate2.DataType.float32))


def logits_of_step(step: Any) -> np.ndarray:
    """Return a copy of the logits of one step, ``(vocabulary,)``; suppressed tokens have the lowest float."""
    return np.array(step.to(ctranslate2.DataType.float32))


def token_logprob(logits: np.ndarray, token: int, forbidden: np.ndarray) -> float:
    """Return the log-probability of a token among the allowed tokens; overwrites the logits.

    Done per step, because one step fits into the CPU cache: all steps of a window at once take twice as long.

    >>> round(token_logprob(np.log(np.array([2, 1, 1, 4], dtype=np.float32)), 0, np.array([3])), 6)
    -0.693147
    """
    logit = float(logits[token])
    logits[forbidden] = -np.inf
    most = float(logits.max())
    logits -= most
    return min(0.0, logit - most - float(np.log(np.exp(logits, out=logits).sum())))


def token_logprobs(result: Any, tokens: Sequence[int], forbidden: np.ndarray) -> list[float]:
    """Return the log-probability of each of ``tokens``, which CTranslate2 generated, among the allowed tokens."""
    steps = map(logits_of_step, result.logits[0])
    return [token_logprob(logits, token, forbidden) for logits, token in zip(steps, tokens, strict=False)]


class FirstToken(NamedTuple):
    """The log-probabilities of the end of text and of a timestamp as the first token, and which of them it is."""

    end: float
    token: float
    is_empty: bool


def begin_logprob(first: np.ndarray, token: int, *, end: int, timestamps: np.ndarray, late: np.ndarray) -> FirstToken:
    """Return how likely it is that a text is empty: its end competes with the timestamps for the first position.

    ``first`` are the logits of the first step, ``(vocabulary,)``, which are overwritten; the ``late`` timestamps are
    not allowed.
    """
    first[late] = -np.inf
    candidates = [end, *timestamps.tolist()]
    logprobs = torch.from_numpy(first[candidates]).log_softmax(dim=-1)
    began = max(_NEVER, float(logprobs[candidates.index(token)]))
    return FirstToken(float(logprobs[0]), began, int(logprobs.argmax()) == 0)


def late_share(result: Any, timestamps: np.ndarray, late: np.ndarray) -> float:
    """Return the largest share that ``late`` timestamps have in the choice of a timestamp after the first.

    ``result`` is what CTranslate2 generated for a window, with its logits; the ``late`` timestamps are those after its
    audio.
    """
    if not len(late):
        return 0.0
    ids, is_late = {*timestamps.tolist()}, torch.from_numpy(np.isin(timestamps, late))
    steps = zip(result.sequences_ids[0][1:], result.logits[0][1:], strict=False)
    logits = [torch.from_numpy(logits_of_step(step)[timestamps]) for token, step in steps if token in ids]
    return max((float(scores.softmax(dim=-1)[is_late].sum()) for scores in logits), default=0.0)
