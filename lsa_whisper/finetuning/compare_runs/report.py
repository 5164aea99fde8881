"""``report.html`` and ``report.json`` of compared training runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lsa_whisper.finetuning.compare_runs.comparison import RunComparison, curve_plots, format_point
from lsa_whisper.finetuning.compare_runs.training_runs import curve_title, has_best
from lsa_whisper.page import templates, write_report_files
from lsa_whisper.page.tables import ReportTable, TableCell
from lsa_whisper.version import __version__

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
        "plots": curve_plots(comparison),
        "tables": [table for table in _tables(comparison) if table.rows],
        "version": __version__,
    }
    logged = [
        {"name": r.name, "folder": str(r.folder), "finished": r.finished, "recipe": r.recipe, "curves": r.curves}
        for r in comparison.runs
    ]
    about = {"schema": _SCHEMA, "schema_version": _SCHEMA_VERSION, "runs": logged}
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
