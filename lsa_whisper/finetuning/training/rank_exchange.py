"""Numbers that all ranks exchange now and then during training: after every n-th step, about twice a second."""

from __future__ import annotations

import time
from typing import Any

import torch

INTERVAL_MS = 500
"""Longest time between two exchanges, if steps are shorter."""
MAX_STEPS = 32


class RankExchange:
    """The largest of all ranks' numbers, after every n-th step.

    Every rank waits for the others in an exchange; after each of many short steps that would cost more than they do.
    The ranks agree on n: it follows from the slowest rank's steps since the last exchange.
    """

    def __init__(self, accelerator: Any):
        self._accelerator = accelerator
        self._every, self._left, self._since = 1, 1, -1.0

    def largest(self, value: int) -> int | None:
        """Return the largest value of all ranks, ``None`` after a step without an exchange; all must call this."""
        self._left -= 1
        if self._left > 0:
            return None
        now = time.monotonic()
        first = self._since < 0
        step_ms = INTERVAL_MS if first else max(1, round(1000 * (now - self._since) / self._every))
        own = torch.tensor([value, step_ms], device=self._accelerator.device)
        found, slowest_ms = self._accelerator.gather(own).view(-1, 2).max(0).values.tolist()
        self._every = self._left = min(MAX_STEPS, max(1, INTERVAL_MS // slowest_ms))
        self._since = now
        return int(found)
