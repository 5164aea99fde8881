"""The comparison of training runs: best values, recipe differences, its text for a terminal, and its curves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsa_whisper.finetuning.compare_runs.training_runs import Points, Run, curve_title, has_best, higher_is_better
from lsa_whisper.page.figures import Plot, PlotCurve, PlotMark
from lsa_whisper.page.text import text_table

_FIRST = ("loss", "eval_loss", "eval_wer_verbatim", "eval_disfluency_f1")


@dataclass(frozen=True)
class RunComparison:
    """Training runs to be compared, in the order in which they were given."""

    runs: tuple[Run, ...]
    report: Path | None = None
    """The HTML report, if one was written."""

    @cached_property
    def keys(self) -> list[str]:
        """The names of all curves, the most informative first."""
        logged = dict.fromkeys(key for run in self.runs for key in run.curves)
        return [key for key in _FIRST if key in logged] + sorted(key for key in logged if key not in _FIRST)

    @cached_property
    def recipe_differences(self) -> list[str]:
        """The recipe keys whose values differ between finished runs."""
        recipes = [run.recipe for run in self.runs if run.recipe]
        keys = dict.fromkeys(key for recipe in recipes for key in recipe)
        return [key for key in keys if len({json.dumps(recipe.get(key)) for recipe in recipes}) > 1]

    def table(self) -> str:
        """Return the steps and the best value of each curve as text for a terminal."""
        rows = [["", *(run.name for run in self.runs)], ["steps", *(str(run.steps) for run in self.runs)]]
        rows += [
            [f"best {curve_title(key).lower()}", *(format_point(run.best(key)) for run in self.runs)]
            for key in self.keys
            if has_best(key)
        ]
        return "\n".join([text_table(rows), *self.remarks()])

    def remarks(self) -> Iterator[str]:
        """Yield the limits of the comparison, in plain sentences."""
        for run in self.runs:
            if not run.finished:
                yield f"{run.name}: not finished; its curves end at the last logged step"
            if not any(key.startswith("eval_") for key in run.curves):
                yield f"{run.name}: was not evaluated during training, so only its training loss is known"


def format_point(point: tuple[int, float] | None) -> str:
    """Return a point of a curve as text.

    >>> format_point((20, 0.4)), format_point(None)
    ('0.4 (step 20)', '-')
    """
    return "-" if point is None else f"{point[1]:.4g} (step {point[0]})"


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
