"""Graceful stop: on a signal, finish the step, save a checkpoint and end all ranks together."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from transformers import TrainerCallback

from lsa_whisper.finetuning.distributed.launch import LAUNCHER
from lsa_whisper.finetuning.training.rank_exchange import RankExchange

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ECHO_S = 2.0  # a terminal and a launcher may both forward the same signal


class StopOnSignal(TrainerCallback):
    """Stops training after the step in which any rank received a signal; a second Ctrl-C stops it immediately.

    Several ranks ask each other after every n-th step only (see :class:`RankExchange`).

    Attributes:
        signal: Number of the received signal, 0 if there is none.
    """

    def __init__(self, accelerator: Any):
        self.accelerator, self._exchange = accelerator, RankExchange(accelerator)
        self.signal, self._since = 0, 0.0
        self._parent = int(os.environ.get(LAUNCHER, "0"))

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle signals in this block; only in the main thread, and not those that are ignored (``nohup``)."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._receive) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if not self.signal:
            self.signal, self._since = number, time.monotonic()
        elif number == signal.SIGINT and time.monotonic() - self._since > _ECHO_S:
            raise KeyboardInterrupt

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Request a checkpoint and the end of training, on all ranks after the same step."""
        if self._parent and os.getppid() != self._parent:
            self.signal = self.signal or signal.SIGTERM
        # A signal that arrives during this exchange is seen in the next one.
        if agreed := self._exchange.largest(self.signal) if self.accelerator.num_processes > 1 else self.signal:
            self.signal = agreed
            control.should_save = control.should_training_stop = True
