"""``report.html`` (one file, works offline), ``report.md`` and ``report.json``."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsa_whisper.atomic_write import replace_file
from lsa_whisper.compare_runs.curves import curve_figures
from lsa_whisper.disk import is_disk_full
from lsa_whisper.errors import CorpusError
from lsa_whisper.evaluate.figures import figures
from lsa_whisper.evaluate.glossary import CLASSES, COLUMNS, MEASURES
from lsa_whisper.evaluate.json_report import record
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.evaluate.rows import payload
from lsa_whisper.evaluate.table import Entry, Table
from lsa_whisper.evaluate.tables import tables
from lsa_whisper.lock import write_lock
from lsa_whisper.page import templates
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.training_runs import Runs, judged, shown, title
from lsa_whisper.version import __version__

WORST = 20
"""How many utterances the Markdown report shows."""
_UNFINISHED = ".report-"


def write_reports(evaluation: Evaluation, out: Path, *, audio: Path | None = None) -> Path:
    """Write the three reports into ``out`` and return the path of the HTML one.

    Args:
        evaluation: scored with its rows.
        out: a folder; made if it is not there.
        audio: a folder with recordings to link to.

    Raises:
        CorpusError: ``out`` cannot be written to.
    """
    utterances = payload(evaluation, out, audio)
    facts: dict[str, Any] = {
        "evaluation": evaluation,
        "systems": list(evaluation.systems),
        "files": len(utterances["files"]),
        "tables": tables(evaluation),
        "figures": figures(evaluation),
        "remarks": list(evaluation.remarks()),
        "metrics": METRICS,
        "classes": list(CLASSES.values()),
        "measures": list(MEASURES.values()),
        "columns": list(COLUMNS.items()),
        "utterances": utterances,
        "worst": _worst(utterances),
        "version": __version__,
    }
    pages = templates("lsa_whisper.evaluate")
    texts = {
        "report.json": json.dumps(record(evaluation), indent=1, ensure_ascii=False) + "\n",
        "report.md": pages.get_template("report.md.jinja").render(facts),
        "report.html": pages.get_template("report.html.jinja").render(facts),
    }
    _write_all(out, texts)
    return out / "report.html"


def write_runs(runs: Runs, out: Path) -> Path:
    """Write ``report.html`` and ``report.json`` of training runs into ``out`` and return the path of the first.

    Raises:
        CorpusError: ``out`` cannot be written to.
    """
    facts = {
        "names": [run.name for run in runs.runs],
        "remarks": list(runs.remarks()),
        "figures": curve_figures(runs),
        "tables": [table for table in _run_tables(runs) if table.rows],
        "version": __version__,
    }
    logged = [
        {"name": r.name, "folder": str(r.folder), "finished": r.finished, "recipe": r.recipe, "curves": r.curves}
        for r in runs.runs
    ]
    about = {"schema": "lsa-whisper/training-runs", "schema_version": 1, "runs": logged}
    page = templates("lsa_whisper.evaluate").get_template("runs.html.jinja").render(facts)
    _write_all(out, {"report.json": json.dumps(about, indent=1, ensure_ascii=False) + "\n", "report.html": page})
    return out / "report.html"


def _run_tables(runs: Runs) -> tuple[Table, Table]:
    head = (Entry(""), *(Entry(run.name) for run in runs.runs))
    steps = (Entry("Steps"), *(Entry(f"{run.steps:,}") for run in runs.runs))
    keys = [key for key in runs.keys if judged(key)]
    best = [(Entry(title(key)), *(Entry(shown(run.best(key))) for run in runs.runs)) for key in keys]
    unlike = [(Entry(key), *(Entry(_value(run.recipe.get(key))) for run in runs.runs)) for key in runs.unlike]
    lead = "The value, and the step at which it was logged."
    return (
        Table("The best of each curve", lead, head, (steps, *best)),
        Table("In what the recipes differ", "Everything else is the same in all finished runs.", head, tuple(unlike)),
    )


def _value(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value)


def _write_all(out: Path, texts: dict[str, str]) -> None:
    """Write the files of a report: all of them, or, when the disk is full, none."""
    try:
        with write_lock(out / "report"):
            for left in out.glob(f"{_UNFINISHED}*"):  # of a call that was killed
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=out) as unfinished:
                for name, text in texts.items():
                    # A file name that is not UTF-8 comes from the system as lone surrogates; JSON writes them so, too.
                    replace_file(text.encode("utf-8", "backslashreplace").decode("utf-8"), Path(unfinished, name))
                for name in texts:
                    Path(unfinished, name).replace(out / name)
    except OSError as error:
        with suppress(OSError):
            out.rmdir()  # where nothing is in it
        remedy = "make room, or choose another folder" if is_disk_full(error) else "choose another folder"
        raise CorpusError(f"{out}: the report cannot be written here ({error.strerror}); {remedy}") from error


def _worst(utterances: dict[str, Any]) -> list[Any]:
    """Return the utterances with the most errors in any system."""
    wrong = [row for row in utterances["rows"] if any(scored[0] for scored in row[5])]
    return sorted(wrong, key=lambda row: -max(scored[0] for scored in row[5]))[:WORST]
