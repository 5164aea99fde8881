"""Callbacks of the trainer: a run's learning curves, and when it saves checkpoints and stops.

Curves are logged to JSONL and to the terminal, and plotted at the end. All ranks save and stop at the same steps.
"""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from transformers import TrainerCallback

from lsa_whisper.finetuning.compare_runs.training_runs import Run, curve_title, read_run
from lsa_whisper.finetuning.distributed.launch import LAUNCHER
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.training.dev_evaluation import SAMPLES
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import atomic_file, replace_file

CURVE = "curve.jsonl"
_SPEED = ("runtime", "per_second")
"""What names end in that an evaluation logs about its speed, not about the model."""


class CurveLogger(TrainerCallback):
    """Writes every logged value to a JSONL file, and losses and scores to the run's log."""

    def __init__(self, path: Path, report: Callable[[str], None]):
        self.path, self.report = path, report
        self.started, self.first_step = time.monotonic(), 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Drop the logged values of steps after the checkpoint that training resumes from: they are taken again."""
        self.started, self.first_step = time.monotonic(), state.global_step
        for path in (self.path, self.path.with_name(SAMPLES)) if state.is_world_process_zero else ():
            if path.exists():
                lines = path.read_text("utf-8").splitlines(keepends=True)
                # The summary at the end of the curve is written again.
                past = (line for line in lines if _step_of(line) <= state.global_step and '"train_runtime"' not in line)
                replace_file("".join(past), path)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """Append the logged values."""
        if not state.is_world_process_zero or not logs:
            return
        # A step that fp16 skips has no finite gradient norm, and JSON has no number for that.
        numbers = {name: value if math.isfinite(value) else None for name, value in logs.items()}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": state.global_step, **numbers}) + "\n")
        step = f"step {state.global_step}/{state.max_steps}"
        if "loss" in logs:
            elapsed_s = time.monotonic() - self.started
            left_s = elapsed_s / max(1, state.global_step - self.first_step) * (state.max_steps - state.global_step)
            self.report(f"{step}  loss {logs['loss']:.4f}  {left_s:.0f} s left")
            return
        scores = {name: value for name, value in logs.items() if name.startswith("eval_") and not name.endswith(_SPEED)}
        if scores:
            self.report(f"{step}  " + "  ".join(f"{name[5:]} {value:.4f}" for name, value in scores.items()))


def _step_of(line: str) -> float:
    """Return the step of a line of the curve, infinity for an incomplete line."""
    try:
        return float(plain_json.parse(line)["step"])
    except (ValueError, TypeError, KeyError, OverflowError):
        return math.inf


def plot_curves(folder: Path, out: Path) -> None:
    """Plot losses and scores of the run in ``folder`` side by side to the PNG file ``out``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    run = read_run(folder)
    losses = [key for key in run.curves if key == "loss" or key.endswith("_loss")]
    losses.sort(key=lambda key: (len(key), key))
    scores = sorted(key for key in run.curves if key.startswith("eval_") and key not in losses)
    panels = [("nats per token", losses)] + ([("rate", scores)] if scores else [])
    figure = Figure(figsize=(6 * len(panels), 4), layout="constrained")
    FigureCanvasAgg(figure)  # not pyplot, which keeps its figures and may look for a display
    for number, (unit, keys) in enumerate(panels, 1):
        _plot_panel(figure.add_subplot(1, len(panels), number), run, keys, unit)
    with atomic_file(out) as file:
        figure.savefig(file, dpi=120, format="png")


def _plot_panel(axes: Any, run: Run, keys: list[str], unit: str) -> None:
    for key in keys:
        steps, values = zip(*run.curves[key], strict=True)
        axes.plot(steps, values, marker="." if len(steps) < 40 else None, label=curve_title(key))
    axes.set(xlabel="optimizer step", ylabel=unit)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def largest_of_ranks(accelerator: Any, value: int) -> int:
    """Return the largest value of all ranks; all must call this."""
    if accelerator.num_processes == 1:
        return value
    return int(accelerator.gather(torch.tensor([value], device=accelerator.device)).max())


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
        self._accelerator = accelerator
        self._saving, self._every = recipe.training.saving, recipe.training.save_steps or _EVERY
        if self._saving == "auto" and not recipe.can_resume:
            self._saving = "no"
        self._since, self._interval_s, self._first_step = time.monotonic(), MAX_INTERVAL_S, 1

    def saved(self, seconds: float) -> None:
        """Take note of a checkpoint whose saving took ``seconds``."""
        self._since = time.monotonic()
        self._interval_s = min(MAX_INTERVAL_S, max(MIN_INTERVAL_S, seconds / COST))

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
        return bool(largest_of_ranks(self._accelerator, int(is_late)))


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ECHO_S = 2.0  # a terminal and a launcher may both forward the same signal


class StopOnSignal(TrainerCallback):
    """Stops training after the step in which any rank received a signal; a second Ctrl-C stops it immediately.

    Attributes:
        signal: Number of the received signal, 0 if there is none.
    """

    def __init__(self, accelerator: Any):
        self.accelerator, self.signal, self._since = accelerator, 0, 0.0
        self._parent = int(os.environ.get(LAUNCHER, "0"))

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle signals in this block; only in the main thread, and not those that are ignored (``nohup``)."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._receive) for number in numbers}
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
        if number := largest_of_ranks(self.accelerator, self.signal):
            self.signal = number
            control.should_save = control.should_training_stop = True
