"""Compare training runs: their curves, their best values and the differences between their recipes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lsa_whisper.errors import CorpusError
from lsa_whisper.finetuning.compare_runs.training_runs import (
    Points,
    Run,
    curve_title,
    has_best,
    higher_is_better,
    read_run,
)
from lsa_whisper.page import templates, write_report_files
from lsa_whisper.page.figures import Plot, PlotCurve, PlotMark
from lsa_whisper.page.tables import ReportTable, TableCell
from lsa_whisper.page.text import column_names, text_table
from lsa_whisper.system.files import paths_of
from lsa_whisper.system.umask import private_umask
from lsa_whisper.version import __version__


@private_umask()
def compare_runs(
    runs: Sequence[Path] | Path | str, *, out: Path | None = None, names: Sequence[str] = ()
) -> RunComparison:
    """Return training runs side by side: steps, the best value of each curve, differences between recipes.

    Args:
        runs: Folders that ``finetune`` wrote, or a single one; a run in progress is read as far as it has logged.
        out: A folder for ``report.html`` and ``report.json``; made if it does not exist.
        names: One name per run; the folder names if left out.

    Raises:
        CorpusError: No run was given, a folder does not exist or has no ``curve.jsonl``, or the names do not fit.
    """
    folders = paths_of(runs)
    if not folders:
        raise CorpusError("compare-runs needs at least one training run: give a folder that finetune wrote")
    columns = column_names(folders, names, noun="run", command="compare-runs")
    comparison = RunComparison(tuple(read_run(folder, name) for folder, name in zip(folders, columns, strict=True)))
    if out is None:
        return comparison
    return replace(comparison, report=write_comparison(comparison, Path(out)))


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
        keys = dict.fromkeys(key for run in self.runs for key in run.curves)
        return [key for key in _FIRST if key in keys] + sorted(key for key in keys if key not in _FIRST)

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


def _plot(comparison: RunComparison, key: str) -> Plot:
    """Return the figure of a curve; the best point of each run is marked."""
    lines = [(n, run, run.curves[key]) for n, run in enumerate(comparison.runs) if key in run.curves]
    last = float(max(points[-1][0] for _, _, points in lines)) or 1.0
    curves, marks = [], []
    for number, run, points in lines:
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
        _range([value for _, _, points in lines for _, value in points]),
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


_SCHEMA = "lsa-whisper/training-runs"
_SCHEMA_VERSION = 1


def write_comparison(comparison: RunComparison, out: Path) -> Path:
    """Write the HTML and the JSON report into ``out`` and return the path of the HTML report.

    Raises:
        CorpusError: ``out`` cannot be written to.
    """
    facts = {
        "names": [run.name for run in comparison.runs],
        "remarks": list(comparison.remarks()),
        "plots": [_plot(comparison, key) for key in comparison.keys],
        "tables": [table for table in _tables(comparison) if table.rows],
        "version": __version__,
    }
    runs = [
        {"name": r.name, "folder": str(r.folder), "finished": r.finished, "recipe": r.recipe, "curves": r.curves}
        for r in comparison.runs
    ]
    about = {"schema": _SCHEMA, "schema_version": _SCHEMA_VERSION, "runs": runs}
    page = templates("lsa_whisper.finetuning.compare_runs").get_template("runs.html.jinja").render(facts)
    write_report_files(
        out, {"report.json": json.dumps(about, indent=1, ensure_ascii=False) + "\n", "report.html": page}
    )
    return out / "report.html"


def _tables(comparison: RunComparison) -> tuple[ReportTable, ReportTable]:
    runs = comparison.runs
    names = [TableCell(run.name) for run in runs]
    steps = (TableCell("Steps"), *(TableCell(f"{run.steps:,}") for run in runs))
    keys = [key for key in comparison.keys if has_best(key)]
    best = [(TableCell(curve_title(key)), *(TableCell(format_point(run.best(key))) for run in runs)) for key in keys]
    different = [
        (TableCell(key), *(TableCell(_value(run.recipe.get(key))) for run in runs))
        for key in comparison.recipe_differences
    ]
    lead = "The value, and the step at which it was logged."
    return (
        ReportTable("Best value of each curve", lead, (TableCell("Curve"), *names), (steps, *best)),
        ReportTable(
            "Recipe differences",
            "All other settings are the same in all finished runs.",
            (TableCell("Setting"), *names),
            tuple(different),
        ),
    )


def _value(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value)
