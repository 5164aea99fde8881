"""The tables of a report; the Markdown and the HTML report show the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.evaluate.breakdown import breakdowns, confusions
from lsa_whisper.evaluate.cells import ERROR_HEADS, error_cells, head_cells, interval_cell, percent
from lsa_whisper.evaluate.glossary import CLASSES, MEASURES
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.page.tables import ReportTable, TableCell
from lsa_whisper.page.text import join_names
from lsa_whisper.scoring.agreement import Agreement
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.file_scores import EVERYONE
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.system import System

_SHARES = {"ttr", "mattr", "maze_share"}


def tables(evaluation: Evaluation) -> list[ReportTable]:
    """Return every table of the report that has any row."""
    systems = list(evaluation.systems.values())
    found = _headline(systems), _better(evaluation), _disfluencies(systems), *confusions(systems), _rates(systems)
    made = *found, *_language(systems), *breakdowns(evaluation), _speakers(systems), _files(systems)
    return [table for table in made if table.rows]


def _headline(systems: Sequence[System]) -> ReportTable:
    rows = [
        (TableCell(m.title, m.abbreviation, m.definition), *(interval_cell(s.value(m), s.interval(m)) for s in systems))
        for m in METRICS
    ]
    errors = [system.word_errors_verbatim for system in systems]
    rows.append((TableCell("Words scored"), *(TableCell(f"{e.reference_words:,}") for e in errors)))
    if any(e.excluded_reference for e in errors):
        excluded = "Segments for which the reference has xxx; the system's words there are not scored."
        texts = (
            TableCell(f"{e.excluded_reference:,}", f"{e.excluded_hypothesis:,} words in their place") for e in errors
        )
        rows.append((TableCell("Unintelligible segments excluded", hover=excluded), *texts))
    intervals = "Below each figure: its 95 % confidence interval over recordings of this kind."
    return ReportTable(
        "Summary",
        intervals if len(systems[0].files) > 1 else "Confidence intervals need more than one file.",
        (TableCell("Measure"), *(TableCell(system.name) for system in systems)),
        tuple(rows),
    )


def _better(evaluation: Evaluation) -> ReportTable:
    rows = []
    for (metric, name), shown in evaluation.better_in.items():
        others = [d.worse(name) for d in shown]
        each = "; ".join(f"{other}: by {d.points}" for other, d in zip(others, shown, strict=True))
        than = TableCell(join_names(others), hover=each if len(shown) > 1 else "")
        size = TableCell(shown[0].points if len(shown) == 1 else "")
        rows.append((TableCell(metric.title, metric.abbreviation, metric.definition), TableCell(name), than, size))
    return ReportTable(
        "Significant differences",
        "Differences whose 95 % confidence interval, on the same files, excludes zero.",
        head_cells("Measure", "System", "Better than", "By"),
        tuple(rows),
    )


_DETECTION_HEADS = ("In reference", "Found", "Missed", "False alarms", "Precision", "Recall", "F1", "Timed F1")


def _disfluencies(systems: Sequence[System]) -> ReportTable:
    rows: list[tuple[TableCell, ...]] = []
    for kind in SCORED:
        for system in systems:
            found = system.disfluency[kind]
            if not found.reference_events and not found.hypothesis_events:
                continue
            title = (
                TableCell(CLASSES[kind][0], hover=CLASSES[kind][1]),
                TableCell(system.name),
                TableCell(str(found.reference_events)),
            )
            if found.not_scored:
                dashes = (TableCell("-"),) * 6
                rows.append(
                    (*title, TableCell("not scored", hover="This system does not support this class."), *dashes)
                )
                continue
            counts = found.true_positives, found.false_negatives, found.false_positives
            rates = TableCell(percent(found.precision)), TableCell(percent(found.recall))
            f1 = interval_cell(found.f1, system.class_interval(kind))
            timed = TableCell(percent(system.timed[kind].f1))
            rows.append((*title, *(TableCell(str(count)) for count in counts), *rates, f1, timed))
    return ReportTable(
        "Disfluency detection by class",
        "A disfluency is found if the system's transcript has one of the same class at the same words.",
        head_cells(
            "Class",
            "System",
            "In reference",
            "Found",
            "Missed",
            "False alarms",
            "Precision",
            "Recall",
            "F1",
            "Timed F1",
        ),
        tuple(rows),
    )


_AGREEMENT = ("Reference", "Transcript", "Bias", "Mean absolute error", "Limits of agreement", "ICC", "Files")


def _rates(systems: Sequence[System]) -> ReportTable:
    rows = []
    for kind in SCORED:
        for system in systems:
            agreed = system.rate_agreement(kind)
            if agreed.reference_mean or agreed.hypothesis_mean:
                title = TableCell(CLASSES[kind][0], hover=CLASSES[kind][1])
                rows.append((title, TableCell(system.name), *_agreed(agreed)))
    return ReportTable(
        "Disfluencies per 100 words",
        "Rates of the reference and of the system's transcript, file by file, per 100 fluent words.",
        head_cells("Class", "System", *_AGREEMENT),
        tuple(rows),
    )


def _language(systems: Sequence[System]) -> Iterator[ReportTable]:
    lead = "Measures of the reference and of the system's transcript of the same file."
    keys = list(dict.fromkeys(key for system in systems for key in system.sample_keys))
    for key in keys:
        rows = []
        for measure, (title, definition) in MEASURES.items():
            for system in systems:
                agreed = system.language_agreement(measure, key)
                if agreed.samples:
                    entries = _agreed(agreed, scale=100 if measure in _SHARES else 1)
                    shown = f"{title} (%)" if measure in _SHARES else title
                    rows.append((TableCell(shown, hover=definition), TableCell(system.name), *entries))
        who = "all speakers" if key == EVERYONE else f"speaker {key}"
        yield ReportTable(
            f"Language-sample measures: {who}",
            lead,
            head_cells("Measure", "System", *_AGREEMENT),
            tuple(rows),
            folded=key != EVERYONE,
        )


def _agreed(agreed: Agreement, scale: float = 1) -> tuple[TableCell, ...]:
    def shown(value: float | None, form: str = ".2f") -> str:
        return "-" if value is None else format(scale * value, form)

    limits = "-" if agreed.low is None else f"{shown(agreed.low, '+.2f')} to {shown(agreed.high, '+.2f')}"
    texts = shown(agreed.reference_mean), shown(agreed.hypothesis_mean), shown(agreed.bias, "+.2f")
    icc = "-" if agreed.icc is None else f"{agreed.icc:.2f}"
    return tuple(TableCell(t) for t in (*texts, shown(agreed.mean_absolute), limits, icc, str(agreed.samples)))


def _speakers(systems: Sequence[System]) -> ReportTable:
    rows = []
    for code in dict.fromkeys(code for system in systems for code in system.word_errors_by_speaker):
        for system in systems:
            rows.append((TableCell(code), TableCell(system.name), *error_cells(system.word_errors_by_speaker[code])))
    return ReportTable(
        "Word errors by speaker code",
        "By speaker in the reference. An insertion is counted with the speaker of the adjacent words.",
        head_cells("Speaker", "System", *ERROR_HEADS),
        tuple(rows),
        folded=True,
    )


def _files(systems: Sequence[System]) -> ReportTable:
    rows = []
    for number, first in enumerate(systems[0].files):
        for system in systems:
            scores = system.files[number]
            name = TableCell(system.name, "no transcript" if scores.missing else "")
            f1 = TableCell(percent(scores.disfluency.only(system.supported_classes).together.f1))
            rows.append((TableCell(first.key), name, *error_cells(scores.verbatim), f1))
    return ReportTable(
        "By file",
        "F1 covers all disfluency classes that the system supports.",
        head_cells("File", "System", *ERROR_HEADS, "F1"),
        tuple(rows),
        folded=len(rows) > 24,
    )
