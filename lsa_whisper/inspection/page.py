"""A self-contained HTML page on prepared data: tables, charts and audio clips; no scripts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lsa_whisper.atomic_write import replace_file
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection.charts import survey_charts
from lsa_whisper.inspection.clips import load_clip
from lsa_whisper.inspection.row_text import timed_lines
from lsa_whisper.inspection.survey import Survey
from lsa_whisper.inspection.tables import describe_segment, survey_notes, survey_tables
from lsa_whisper.manifest import Segment
from lsa_whisper.page import templates
from lsa_whisper.version import __version__

_ROWS = 200


def write_page(path: Path, survey: Survey, out: Path) -> None:
    """Write the statistics of the data at ``path`` to the HTML file ``out``, atomically.

    Raises:
        CorpusError: ``out`` cannot be written.
    """
    if out.is_dir():
        raise CorpusError(f"{out}: is a folder; name the HTML file to write, such as {out / 'data.html'}")
    facts: dict[str, Any] = {
        "path": path,
        "survey": survey,
        "remarks": survey_notes(survey),
        "tables": survey_tables(path, survey, most=_ROWS),
        "figures": survey_charts(survey),
        "clips": {
            "Random examples": _clips((None, row) for row in survey.examples),
            "Spliced speech, two windows of each class": _clips((None, row) for row in survey.spliced),
            "Slow outliers, lowest speech rate first": _clips(survey.slow),
            "Fast outliers, highest speech rate first": _clips(survey.fast),
        },
        "version": __version__,
    }
    page = templates("lsa_whisper.inspection").get_template("page.html.jinja").render(facts)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        replace_file(page, out)
    except OSError as error:
        raise CorpusError(f"{out}: the page cannot be written here ({error.strerror}); name another file") from error


def _clips(rows: Iterable[tuple[float | None, Segment]]) -> list[dict[str, Any]]:
    return [
        {
            "row": row,
            "place": describe_segment(row),
            "rate": rate,
            "clip": load_clip(row),
            "lines": timed_lines(row.text),
        }
        for rate, row in rows
    ]
