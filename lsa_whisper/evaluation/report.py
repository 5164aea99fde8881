"""``report.html`` (one file, works offline), ``report.md`` and ``report.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lsa_whisper.evaluation.cells import COLUMNS
from lsa_whisper.evaluation.embedded_clips import embedded_clips, sound_pictures
from lsa_whisper.evaluation.json_report import json_report
from lsa_whisper.evaluation.material import Material
from lsa_whisper.evaluation.pairing import find_audio
from lsa_whisper.evaluation.plots import evaluation_plots
from lsa_whisper.evaluation.report_rows import page_data
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.evaluation.summary_page import render_summary
from lsa_whisper.evaluation.tables import tables
from lsa_whisper.page import templates
from lsa_whisper.page.files import write_report_files
from lsa_whisper.page.language import gettext, page_language
from lsa_whisper.page.terms import CLASSES, MEASURES
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.version import __version__

WORST = 20
"""How many utterances the Markdown report shows."""


def write_reports(
    evaluation: Evaluation,
    out: Path,
    *,
    audio: Path | None = None,
    embed_audio: bool = False,
    summary: bool = True,
    language: str = "en",
) -> Path:
    """Write the three reports into ``out`` and return the path of the HTML one.

    Args:
        evaluation: scored with its rows.
        out: a folder; made if it is not there.
        audio: a folder with recordings to link to.
        embed_audio: put clips of the recordings into the HTML report instead of links.
        summary: also write ``summary.html``.
        language: the language of all but the JSON, one of :data:`~lsa_whisper.page.language.PAGE_LANGUAGES`.

    Raises:
        CorpusError: ``out`` cannot be written to.
    """
    texts = {"report.json": json.dumps(json_report(evaluation), indent=1, ensure_ascii=False) + "\n"}
    with page_language(language):
        texts |= _pages(evaluation, out, audio=audio, embed_audio=embed_audio, summary=summary)
    write_report_files(out, texts)
    return out / "report.html"


def _pages(
    evaluation: Evaluation, out: Path, *, audio: Path | None, embed_audio: bool, summary: bool
) -> dict[str, str]:
    keys = next(iter(evaluation.systems.values())).files.keys
    utterances = page_data(list(evaluation.systems), keys, evaluation.rows, out, audio)
    pictures = {} if audio is None else sound_pictures(evaluation.rows, keys, find_audio(audio, keys))
    if embed_audio and audio is not None:
        utterances["clips"] = embedded_clips(utterances["rows"], keys, find_audio(audio, keys))
        utterances["files"] = [[key, None] for key in keys]
    facts: dict[str, Any] = {
        "evaluation": evaluation,
        "systems": list(evaluation.systems),
        "files": len(utterances["files"]),
        "tables": tables(evaluation),
        "plots": evaluation_plots(evaluation),
        "answers": evaluation.answers,
        "verdict": evaluation.verdict,
        "about": _about(evaluation.material),
        "remarks": list(evaluation.remarks()),
        "metrics": METRICS,
        "classes": list(CLASSES.values()),
        "measures": list(MEASURES.values()),
        "columns": list(COLUMNS.items()),
        "utterances": utterances | {"pictures": list(pictures)},
        "pictures": pictures,
        "worst": _worst(utterances),
        "version": __version__,
        "has_summary": summary,
    }
    pages = templates("lsa_whisper.evaluation")
    texts = {
        "report.md": pages.get_template("report.md.jinja").render(facts),
        "report.html": pages.get_template("report.html.jinja").render(facts),
    }
    if summary:
        texts["summary.html"] = render_summary(evaluation)
    return texts


def _about(material: Material) -> list[tuple[str, str]]:
    """Return the facts about the evaluation that are known, each with its name."""
    models = "; ".join(f"{name}: {', '.join(found)}" for name, found in material.models.items())
    facts = {
        "Corpus": ", ".join(material.corpora),
        "Language": ", ".join(material.languages),
        "Models": models,
        "Date": material.date,
        "Versions": material.versions,
        "Command": material.command,
    }
    return [(gettext(name), text) for name, text in facts.items() if text]


def _worst(utterances: dict[str, Any]) -> list[Any]:
    """Return the utterances with the most errors in any system."""
    wrong = [row for row in utterances["rows"] if any(scored[0] for scored in row[5])]
    return sorted(wrong, key=lambda row: -max(scored[0] for scored in row[5]))[:WORST]
