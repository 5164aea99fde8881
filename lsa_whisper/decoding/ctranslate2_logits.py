"""The logits that CTranslate2 returns for each step, and log-probabilities from them."""

from __future__ import annotations

from typing import Any

import ctranslate2
import numpy as np


def logits_of_step(step: Any) -> np.ndarray:
    """Return a copy of the logits of one step, ``(vocabulary,)``; suppressed tokens have the lowest float."""
    return np.array(step.to(ctranslate2.DataType.float32))


def token_logprob(logits: np.ndarray, token: int, forbidden: np.ndarray) -> float:
    """Return the log-probability of a token among the allowed tokens; overwrites the logits.

    Done per step, because one step fits into the CPU cache: all steps of a window at once take twice as long.

    >>> round(token_logprob(np.log(np.array([2, 1, 1, 4], dtype=np.float32)), 0, np.array([3])), 6)
    -0.693147
    """
    chosen = float(logits[token])
    logits[forbidden] = -np.inf
    most = float(logits.max())
    logits -= most
    return min(0.0, chosen - most - float(np.log(np.exp(logits, out=logits).sum())))
