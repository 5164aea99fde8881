"""Learning curves of a run: logged to JSONL and to the terminal, and plotted at the end."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from lsa_whisper.finetuning.compare_runs.training_runs import Run, curve_title, read_run
from lsa_whisper.finetuning.training.dev_evaluation import SAMPLES
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import atomic_file, replace_file

CURVE = "curve.jsonl"


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
                kept = (line for line in lines if _step_of(line) <= state.global_step and not _is_summary(line))
                replace_file("".join(kept), path)

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
        scores = {name[5:]: value for name, value in logs.items() if name.startswith("eval_") and not _is_speed(name)}
        if scores:
            self.report(f"{step}  " + "  ".join(f"{name} {value:.4f}" for name, value in scores.items()))


def _is_speed(name: str) -> bool:
    """Return whether a value logged by an evaluation is about its speed, not about the model."""
    return name.endswith(("runtime", "per_second"))


def _is_summary(line: str) -> bool:
    """Return whether a line of the curve is the summary at its end."""
    return '"train_runtime"' in line


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
    losses = sorted(
        (key for key in run.curves if key == "loss" or key.endswith("_loss")), key=lambda key: (len(key), key)
    )
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
