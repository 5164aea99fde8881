"""A self-contained HTML page on prepared data: tables, charts and audio clips; no scripts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lsa_whisper.inspection.charts import survey_plots
from lsa_whisper.inspection.counts import timed_lines
from lsa_whisper.inspection.survey import Survey
from lsa_whisper.inspection.tables import describe_segment, survey_notes, survey_tables
from lsa_whisper.inspection.write_page import load_clip, write_page
from lsa_whisper.manifest import Segment

_ROWS = 200


def write_survey_page(path: Path, survey: Survey, out: Path) -> None:
    """Write the statistics of the data at ``path`` to the HTML file ``out``, atomically.

    Raises:
        CorpusError: ``out`` cannot be written.
    """
    facts: dict[str, Any] = {
        "path": path,
        "survey": survey,
        "remarks": survey_notes(survey),
        "tables": survey_tables(path, survey, most=_ROWS),
        "figures": survey_plots(survey),
        "clips": {
            "Random examples": _clips((None, row) for row in survey.examples),
            "Spliced speech, two windows of each class": _clips((None, row) for row in survey.spliced),
            "Slow outliers, lowest speech rate first": _clips(survey.slow),
            "Fast outliers, highest speech rate first": _clips(survey.fast),
        },
    }
    write_page("page.html.jinja", facts, out)


def _clips(rows: Iterable[tuple[float | None, Segment]]) -> list[dict[str, Any]]:
    return [
        {
            "row": row,
            "place": describe_segment(row),
            "rate": rate,
            "clip": load_clip(row.audio_filepath, row.span),
            "prompt": row.prompt,
            "lines": timed_lines(row.text),
        }
        for rate, row in rows
    ]
