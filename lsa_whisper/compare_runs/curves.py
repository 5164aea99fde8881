"""The curves of training runs as figures: one per logged value, a line per run."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.evaluate.figures import Curve, Figure, Mark, across, place, round_up, up, upward
from lsa_whisper.training_runs import Points, Runs, judged, rises, title

MOST_POINTS = 400
"""More than a screen has columns for; a longer curve is thinned to the mean of neighbours."""


def curve_figures(runs: Runs) -> list[Figure]:
    """Return the figure of every curve; the best point of each run is marked."""
    return [_figure(runs, key) for key in runs.keys]


def _figure(runs: Runs, key: str) -> Figure:
    drawn = [(n, run, run.curves[key]) for n, run in enumerate(runs.runs) if key in run.curves]
    top = round_up(max(points[-1][0] for _, _, points in drawn)) or 1.0
    values = [value for _, _, points in drawn for _, value in points]
    low, high = min(values), max(values)
    # A curve near 0 is drawn from 0, so that its height means something.
    low = 0.0 if 0 <= low < high / 2 else low
    high = high if high > low else low + (abs(low) or 1.0)
    curves, marks = [], []
    for number, run, points in drawn:
        line = " ".join(f"{place(step, top)},{up(value, low, high)}" for step, value in thinned(points))
        curves.append(Curve(line, number, run.name))
        best = run.best(key)
        if best is not None and key.startswith("eval_"):
            x = place(best[0], top)
            text = f"{run.name}: best {best[1]:.4g} at step {best[0]}"
            marks.append(Mark(x, up(best[1], low, high), x, x, number, text))
    better = "higher is better" if rises(key) else "lower is better"
    shown = f"{title(key)} ({better})" if judged(key) else title(key)
    return Figure(shown, 380, tuple(marks), across(top), upward(low, high, ".3g"), curves=tuple(curves))


def thinned(points: Sequence[tuple[int, float]], most: int = MOST_POINTS) -> Points:
    """Return at most ``most`` points: means of neighbours, each at the last step of its own.

    >>> thinned([(1, 4.0), (2, 2.0), (3, 1.0), (4, 1.0)], most=2)
    [(2, 3.0), (4, 1.0)]
    """
    size = -(-len(points) // most)
    groups = [points[n : n + size] for n in range(0, len(points), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]
