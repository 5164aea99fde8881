"""The curves of training runs as figures: one per logged value, a line per run."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.compare_runs.comparison import RunComparison
from lsa_whisper.page.figures import Plot, PlotCurve, PlotMark, round_up, x_position, x_ticks, y_position, y_ticks
from lsa_whisper.training_runs import Points, curve_title, has_best, higher_is_better

MOST_POINTS = 400
"""More than a screen has columns for; a longer curve is reduced to means of neighbors."""


def curve_plots(comparison: RunComparison) -> list[Plot]:
    """Return the figure of every curve; the best point of each run is marked."""
    return [_plot(comparison, key) for key in comparison.keys]


def _plot(comparison: RunComparison, key: str) -> Plot:
    drawn = [(n, run, run.curves[key]) for n, run in enumerate(comparison.runs) if key in run.curves]
    top = round_up(max(points[-1][0] for _, _, points in drawn)) or 1.0
    low, high = _range([value for _, _, points in drawn for _, value in points])
    curves, marks = [], []
    for number, run, points in drawn:
        reduced = reduce_points(points)
        line = " ".join(f"{x_position(step, top)},{y_position(value, low, high)}" for step, value in reduced)
        curves.append(PlotCurve(line, number, run.name))
        best = run.best(key)
        if best is not None and key.startswith("eval_"):
            x = x_position(best[0], top)
            text = f"{run.name}: best {best[1]:.4g} at step {best[0]}"
            marks.append(PlotMark(x, y_position(best[1], low, high), x, x, number, text))
    better = "higher is better" if higher_is_better(key) else "lower is better"
    title = f"{curve_title(key)} ({better})" if has_best(key) else curve_title(key)
    return Plot(title, 380, tuple(marks), x_ticks(top), y_ticks(low, high, ".3g"), curves=tuple(curves))


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of the y axis; values near 0 are drawn from 0, so that heights can be compared."""
    low, high = min(values), max(values)
    low = 0.0 if 0 <= low < high / 2 else low
    return low, high if high > low else low + (abs(low) or 1.0)


def reduce_points(points: Sequence[tuple[int, float]], most: int = MOST_POINTS) -> Points:
    """Return at most ``most`` points: means of neighbors, each at the last step of its group.

    >>> reduce_points([(1, 4.0), (2, 2.0), (3, 1.0), (4, 1.0)], most=2)
    [(2, 3.0), (4, 1.0)]
    """
    size = -(-len(points) // most)
    groups = [points[n : n + size] for n in range(0, len(points), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]
