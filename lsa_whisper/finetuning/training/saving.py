"""When a run saves checkpoints."""

from __future__ import annotations

import time
from typing import Any

from transformers import TrainerCallback

from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.training.rank_exchange import RankExchange

MAX_INTERVAL_S = 600.0
"""Longest time between checkpoints: what a killed run can lose."""
MIN_INTERVAL_S = 2.0
"""Shortest time between checkpoints."""
COST = 0.02
"""Share of the time that saving may take, as long as checkpoints are not further apart than the longest interval."""
_EVERY = 500


class CheckpointSchedule(TrainerCallback):
    """Requests checkpoints as ``training.save_strategy`` sets, at the same steps in all processes.

    With ``auto``, the first is saved after the first step of each call: it measures how long saving takes, a run that
    cannot save ends before it has trained for hours, and one that is killed again and again still advances.
    """

    def __init__(self, recipe: Recipe, accelerator: Any):
        self._accelerator, self._exchange = accelerator, RankExchange(accelerator)
        self._saving, self._every = recipe.training.saving, recipe.training.save_steps or _EVERY
        if self._saving == "auto" and not recipe.can_resume:
            self._saving = "no"
        self._since, self._interval_s, self._first_step = time.monotonic(), MAX_INTERVAL_S, 1

    def saved(self, seconds: float) -> None:
        """Take note of a checkpoint whose saving took ``seconds``."""
        self._since, self._interval_s = (
            time.monotonic(),
            min(MAX_INTERVAL_S, max(MIN_INTERVAL_S, seconds / COST)),
        )

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock."""
        self._since, self._first_step = time.monotonic(), state.global_step + 1

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Request a checkpoint if one is due."""
        if self._saving == "no":
            return
        is_due = state.global_step >= state.max_steps
        if self._saving == "steps":
            is_due |= state.global_step % self._every == 0
        elif self._saving == "auto" and not is_due:
            is_due = state.global_step == self._first_step or self._is_late()
        control.should_save |= is_due

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Request a checkpoint after each epoch, if the recipe says so."""
        control.should_save |= self._saving == "epoch"

    def _is_late(self) -> bool:
        """Return whether the last checkpoint of any process is older than its interval."""
        is_late = time.monotonic() - self._since >= self._interval_s
        if self._accelerator.num_processes == 1:
            return is_late
        return bool(self._exchange.largest(int(is_late)))
