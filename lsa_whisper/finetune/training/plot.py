"""The curves of one run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsa_whisper.atomic_write import atomic_file
from lsa_whisper.training_runs import Run, curve_title, read_run

_LOSSES = ("loss", "eval_loss", "eval_out_of_domain_loss")


def plot_curves(folder: Path, out: Path) -> None:
    """Draw the losses, and beside them the scores if there are any, of the run in ``folder`` to the PNG ``out``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    run = read_run(folder)
    losses = [key for key in _LOSSES if key in run.curves]
    scores = sorted(key for key in run.curves if key.startswith("eval_") and key not in _LOSSES)
    panels = [("nats per token", losses)] + ([("rate", scores)] if scores else [])
    figure = Figure(figsize=(6 * len(panels), 4), layout="constrained")
    FigureCanvasAgg(figure)  # not pyplot, which keeps its figures and may look for a screen
    for number, (unit, keys) in enumerate(panels, 1):
        _draw(figure.add_subplot(1, len(panels), number), run, keys, unit)
    with atomic_file(out) as file:
        figure.savefig(file, dpi=120, format="png")


def _draw(axes: Any, run: Run, keys: list[str], unit: str) -> None:
    for key in keys:
        steps, values = zip(*run.curves[key], strict=True)
        axes.plot(steps, values, marker="." if len(steps) < 40 else None, label=curve_title(key))
    axes.set(xlabel="optimiser step", ylabel=unit)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
