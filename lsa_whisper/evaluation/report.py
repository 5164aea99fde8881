"""``report.html`` (one file, works offline), ``report.md``, ``report.json`` and ``summary.html``.

The summary is one page that shows what each system found, missed and made up, and says what follows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation.cells import COLUMNS, percent
from lsa_whisper.evaluation.json_report import json_report
from lsa_whisper.evaluation.material import Material
from lsa_whisper.evaluation.pairing import find_audio
from lsa_whisper.evaluation.plots import evaluation_plots
from lsa_whisper.evaluation.report_rows import embedded_clips, page_data, sound_pictures
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.evaluation.tables import tables
from lsa_whisper.labels import NOT_TRANSCRIBED
from lsa_whisper.page import templates, write_report_files
from lsa_whisper.page.language import gettext, page_language
from lsa_whisper.page.terms import CLASSES, MEASURES, class_title
from lsa_whisper.scoring.bootstrap import MIN_EVENTS
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.system import System
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

    ``audio`` is a folder with recordings to link to, or to cut clips from with ``embed_audio``.

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
    keys = [file.key for file in next(iter(evaluation.systems.values())).files]
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
    models = "; ".join(f"{name}: {', '.join(names)}" for name, names in material.models.items())
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
    wrong = [row for row in utterances["rows"] if any(cells[0] for cells in row[5])]
    return sorted(wrong, key=lambda row: -max(cells[0] for cells in row[5]))[:WORST]


_WIDTH = 300
"""Of all disfluencies in the reference, in the units of the picture; what is invented stands to their right."""
_MAX_INVENTED = 200
MAX_SYSTEMS = 6
"""With more, the page would not be one; those after the sixth are in the report only."""


@dataclass(frozen=True)
class Bar:
    """The bar of one class and one system; lengths are in units of the picture."""

    system: str
    number: int
    found: float
    missed: float
    invented: float
    text: str
    written: bool
    """Whether the system writes the class at all."""


@dataclass(frozen=True)
class SummaryRow:
    """The bars of one class."""

    title: str
    events: int
    rare: bool
    bars: tuple[Bar, ...]


def render_summary(evaluation: Evaluation) -> str:
    """Return ``summary.html``."""
    systems = list(evaluation.systems.values())
    first = systems[:MAX_SYSTEMS]
    errors = [(s.name, percent(s.word_errors_verbatim.rate), s.word_errors_verbatim.reference_words) for s in first]
    facts = {
        "systems": [system.name for system in first],
        "left_out": len(systems) - len(first),
        "rows": (rows := list(_rows(first))),
        "width": _WIDTH,
        "full_width": _WIDTH + 6 + max((bar.invented for row in rows for bar in row.bars), default=0.0),
        "comparison": evaluation.comparison,
        "answers": evaluation.answers[: len(first)],
        "sample": evaluation.verdict[-1],
        "errors": errors,
        "unit": evaluation.material.unit,
        "date": evaluation.material.date,
        "version": __version__,
    }
    return templates("lsa_whisper.evaluation").get_template("summary.html.jinja").render(facts)


def _rows(systems: Sequence[System]) -> Iterator[SummaryRow]:
    for kind in SCORED:
        scores = [system.disfluency[kind] for system in systems]
        if any(score.reference_events or score.hypothesis_events for score in scores):
            events = scores[0].reference_events
            bars = tuple(_bar(n, system, kind, d) for n, (system, d) in enumerate(zip(systems, scores, strict=True)))
            yield SummaryRow(class_title(kind), events, events < MIN_EVENTS, bars)


def _bar(number: int, system: System, kind: Disfluency, detections: Detections) -> Bar:
    unit = _WIDTH / max(detections.reference_events, 1)
    if detections.not_scored:
        text = gettext(NOT_TRANSCRIBED) if kind in system.left_out else gettext("not written by this system")
        return Bar(system.name, number, 0.0, _WIDTH, 0.0, text, False)
    counts = detections.true_positives, detections.false_negatives, detections.false_positives
    names = gettext("found"), gettext("missed"), gettext("made up")
    text = ", ".join(f"{count:,} {name}" for count, name in zip(counts, names, strict=True))
    invented = min(detections.false_positives * unit, _MAX_INVENTED)
    missed = detections.false_negatives * unit
    return Bar(system.name, number, detections.true_positives * unit, missed, invented, text, True)
