"""Stopping well: a signal asks for it, the step is finished, a checkpoint is saved, all processes leave together."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from transformers import TrainerCallback

from lsa_whisper.finetune.distributed.launch import LAUNCHER

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ECHO_S = 2.0  # a terminal and a launcher may both pass on the same signal


class Stop(TrainerCallback):
    """Ends a training after the step in which a signal came to any of its processes; Ctrl-C once more ends it at once.

    Attributes:
        signal: The signal that came, 0 while none has.
    """

    def __init__(self, accelerator: Any):
        self.accelerator = accelerator
        self.signal, self._since = 0, 0.0
        self._parent = int(os.environ.get(LAUNCHER, "0"))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the signals over where that is allowed, in a program's main thread, and leave what ``nohup`` ignores."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._note) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if not self.signal:
            self.signal, self._since = number, time.monotonic()
        elif number == signal.SIGINT and time.monotonic() - self._since > _ECHO_S:
            raise KeyboardInterrupt

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint and the end, in all processes after the same step."""
        if self._parent and os.getppid() != self._parent:
            self.signal = self.signal or signal.SIGTERM
        # All stop after the same step. A signal that comes while they ask each other waits for the next one.
        if agreed := self._of_any() if self.accelerator.num_processes > 1 else self.signal:
            self.signal = agreed
            control.should_save = control.should_training_stop = True

    def _of_any(self) -> int:
        told = torch.tensor([self.signal], device=self.accelerator.device)
        return int(self.accelerator.gather(told).max())
