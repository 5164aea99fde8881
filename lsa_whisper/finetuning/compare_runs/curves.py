"""The curves of training runs as figures: one per logged value, a line per run."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.finetuning.compare_runs.comparison import RunComparison
from lsa_whisper.finetuning.compare_runs.training_runs import Points, curve_title, has_best, higher_is_better
from lsa_whisper.page.figures import Plot, PlotCurve, PlotMark

MAX_POINTS = 400
"""More than a screen has columns for; a longer curve is reduced to means of neighbors."""


def curve_plots(comparison: RunComparison) -> list[Plot]:
    """Return the figure of every curve; the best point of each run is marked."""
    return [_plot(comparison, key) for key in comparison.keys]


def _plot(comparison: RunComparison, key: str) -> Plot:
    drawn = [(n, run, run.curves[key]) for n, run in enumerate(comparison.runs) if key in run.curves]
    last = float(max(points[-1][0] for _, _, points in drawn)) or 1.0
    curves, marks = [], []
    for number, run, points in drawn:
        curves.append(PlotCurve(tuple((float(step), value) for step, value in reduce_points(points)), number, run.name))
        best = run.best(key)
        if best is not None and key.startswith("eval_"):
            text = f"{run.name}: best {best[1]:.4g} at step {best[0]}"
            marks.append(PlotMark(best[0], best[1], best[0], best[0], number, text))
    better = "higher is better" if higher_is_better(key) else "lower is better"
    return Plot(
        f"{curve_title(key)} ({better})" if has_best(key) else curve_title(key),
        tuple(run.name for run in comparison.runs),
        tuple(marks),
        (0.0, last),
        _range([value for _, _, points in drawn for _, value in points]),
        "step",
        curve_title(key),
        curves=tuple(curves),
    )


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of the y axis; values near 0 are drawn from 0, so that heights can be compared."""
    low, high = min(values), max(values)
    low = 0.0 if 0 <= low < high / 2 else low
    return low, high if high > low else low + (abs(low) or 1.0)


def reduce_points(points: Sequence[tuple[int, float]], most: int = MAX_POINTS) -> Points:
    """Return at most ``most`` points: means of neighbors, each at the last step of its group.

    >>> reduce_points([(1, 4.0), (2, 2.0), (3, 1.0), (4, 1.0)], most=2)
    [(2, 3.0), (4, 1.0)]
    """
    size = -(-len(points) // most)
    groups = [points[n : n + size] for n in range(0, len(points), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]
