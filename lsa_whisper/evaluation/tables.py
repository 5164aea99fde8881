"""The tables of a report; the Markdown and the HTML report show the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation import cells
from lsa_whisper.evaluation.breakdown import breakdowns, confusions
from lsa_whisper.evaluation.cells import ERROR_HEADS, class_cell, count_cells, error_cells, head_cells, percent
from lsa_whisper.evaluation.differences import MAIN_METRICS
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.evaluation.word_counts import word_table
from lsa_whisper.labels import NOT_TRANSCRIBED
from lsa_whisper.page.language import gettext
from lsa_whisper.page.tables import ReportTable, TableCell
from lsa_whisper.page.terms import MEASURES
from lsa_whisper.page.text import join_names, range_text
from lsa_whisper.scoring.agreement import Agreement
from lsa_whisper.scoring.bootstrap import MIN_UNITS
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.file_scores import EVERYONE
from lsa_whisper.scoring.metrics import METRICS, Metric
from lsa_whisper.scoring.system import System

_SHARES = {"ttr", "mattr", "maze_share"}


def tables(evaluation: Evaluation) -> list[ReportTable]:
    """Return every table of the report that has any row, those for everybody first."""
    systems = list(evaluation.systems.values())
    first = _summary(systems), _better(evaluation), _disfluencies(systems), _rates(systems), *_language(systems)
    technical = _metrics(systems), _better(evaluation, technical=True), _detections(systems), *confusions(systems)
    all_tables = (
        *first,
        word_table(evaluation.words),
        *breakdowns(evaluation),
        _speakers(systems),
        _files(systems),
        *technical,
    )
    return sorted((table for table in all_tables if table.rows), key=lambda table: table.for_engineers)


def _summary(systems: Sequence[System]) -> ReportTable:
    """Return the three figures that everybody needs, and how many words they are from."""
    rows = [_metric_row(metric, systems) for metric in MAIN_METRICS]
    errors = [system.word_errors_verbatim for system in systems]
    rows.append((TableCell(gettext("Words scored")), *count_cells(*(e.reference_words for e in errors))))
    if any(e.excluded_reference for e in errors):
        excluded = gettext(
            "Segments for which the reference has xxx; as many of the system's words as fit there are not scored."
        )
        small = gettext("words in their place: {n:,}")
        texts = (TableCell(f"{e.excluded_reference:,}", small.format(n=e.excluded_hypothesis)) for e in errors)
        rows.append((TableCell(gettext("Unintelligible segments excluded"), hover=excluded), *texts))
    intervals = gettext("Below each figure: its 95 % confidence interval over recordings of this kind.")
    too_few = gettext("Confidence intervals need {n} recordings.").format(n=MIN_UNITS)
    return ReportTable(
        gettext("Summary"),
        intervals if systems[0].resamples.units >= MIN_UNITS else too_few,
        (*head_cells("Measure"), *(TableCell(system.name) for system in systems)),
        tuple(rows),
    )


def _metrics(systems: Sequence[System]) -> ReportTable:
    return ReportTable(
        gettext("All metrics"),
        gettext(
            "In the rows of raw output, the system's transcript is compared as it is. A perfect verbatim transcript "
            "then has errors: its disfluencies count as insertions."
        ),
        (*head_cells("Measure"), *(TableCell(system.name) for system in systems)),
        tuple(_metric_row(metric, systems) for metric in METRICS),
        for_engineers=True,
    )


def _metric_row(metric: Metric, systems: Sequence[System]) -> tuple[TableCell, ...]:
    return _title(metric), *(_metric_cell(metric, system) for system in systems)


def _title(metric: Metric) -> TableCell:
    return TableCell(gettext(metric.title), metric.abbreviation, gettext(metric.definition))


def _metric_cell(metric: Metric, system: System) -> TableCell:
    if metric.over_supported_classes and system.has_gaps:
        hover = gettext("A total over classes of which one is left out would not be one.")
        return TableCell(gettext(NOT_TRANSCRIBED), hover=hover)
    return cells.interval_cell(system.value(metric), system.interval(metric))


def _better(evaluation: Evaluation, *, technical: bool = False) -> ReportTable:
    rows = []
    for (metric, name), won in evaluation.better_in.items():
        if technical is (metric in METRICS and metric not in MAIN_METRICS):
            losers = [d.worse(name) for d in won]
            by = gettext("{system}: by {points}")
            sizes = "; ".join(by.format(system=other, points=d.points) for other, d in zip(losers, won, strict=True))
            than = TableCell(join_names(losers), hover=sizes if len(won) > 1 else "")
            size = TableCell(won[0].points if len(won) == 1 else "")
            rows.append((_title(metric), TableCell(name), than, size))
    tests = [d for d in evaluation.differences if technical is (d.metric in METRICS and d.metric not in MAIN_METRICS)]
    tested = sum(d.p is not None for d in tests)
    return ReportTable(
        gettext("Significant differences in other metrics") if technical else gettext("Significant differences"),
        gettext(
            "Of {tested} comparisons on the same recordings ({untested} with too few recordings were not tested): p at "
            "most .05, corrected for the number of comparisons (Westfall and Young). The metric that decides is tested "
            "apart."
        ).format(tested=tested, untested=len(tests) - tested),
        head_cells("Measure", "System", "Better than", "By"),
        tuple(rows),
        for_engineers=technical,
    )


def _disfluencies(systems: Sequence[System]) -> ReportTable:
    """Return what was found and missed of each class, in counts."""
    rows: list[tuple[TableCell, ...]] = []
    for kind, system, detections in _by_class(systems):
        if detections.not_scored:
            text = gettext(NOT_TRANSCRIBED) if kind in system.left_out else gettext("not scored")
            unsupported = TableCell(text, hover=gettext("This system does not support this class."))
            scores: tuple[TableCell, ...] = (unsupported,) * 4
        else:
            counts = count_cells(detections.true_positives, detections.false_negatives, detections.false_positives)
            scores = (*counts, cells.share_cell(detections.true_positives, detections.reference_events))
        rows.append((class_cell(kind), TableCell(system.name), *count_cells(detections.reference_events), *scores))
    return ReportTable(
        gettext("Disfluency detection by class"),
        gettext(
            "A disfluency is found if the system's transcript has one of the same class at the same words. Below each "
            "share: its 95 % confidence interval (Wilson), which takes the disfluencies as independent."
        ),
        head_cells("Class", "System", "In reference", "Found", "Missed", "False alarms", "Share found"),
        tuple(rows),
    )


def _by_class(systems: Sequence[System]) -> Iterator[tuple[Disfluency, System, Detections]]:
    """Yield the detections of every class that the reference or the system has."""
    for kind in SCORED:
        for system in systems:
            detections = system.disfluency[kind]
            if detections.reference_events or detections.hypothesis_events:
                yield kind, system, detections


def _detections(systems: Sequence[System]) -> ReportTable:
    rows = []
    for kind, system, detections in _by_class(systems):
        rates = TableCell(percent(detections.precision)), TableCell(percent(detections.recall))
        f1 = cells.interval_cell(detections.f1, system.class_interval(kind)), TableCell(percent(system.timed[kind].f1))
        total = count_cells(detections.reference_events)
        rows.append((class_cell(kind), TableCell(system.name), *total, *rates, *f1))
    return ReportTable(
        gettext("Precision, recall and F1 by class"),
        gettext("Below each F1: its 95 % bootstrap interval over files."),
        head_cells("Class", "System", "In reference", "Precision", "Recall", "F1", "Timed F1"),
        tuple(rows),
        for_engineers=True,
    )


_AGREEMENT = ("Reference", "Transcript", "Bias", "Mean absolute error", "Limits of agreement", "ICC", "Files")


def _rates(systems: Sequence[System]) -> ReportTable:
    rows = []
    for kind in SCORED:
        for system in systems:
            agreement = system.rate_agreement(kind)
            if agreement.reference_mean or agreement.hypothesis_mean:
                rows.append((class_cell(kind), TableCell(system.name), *_agreed(agreement)))
    return ReportTable(
        gettext("Disfluencies per 100 words"),
        gettext("Rates of the reference and of the system's transcript, file by file, per 100 fluent words."),
        head_cells("Class", "System", *_AGREEMENT),
        tuple(rows),
    )


def _language(systems: Sequence[System]) -> Iterator[ReportTable]:
    lead = gettext("Measures of the reference and of the system's transcript of the same file.")
    keys = list(dict.fromkeys(key for system in systems for key in system.sample_keys))
    for key in keys:
        rows = []
        for measure, (title, definition) in MEASURES.items():
            for system in systems:
                agreement = system.language_agreement(measure, key)
                if agreement.samples and not (measure == "maze_share" and system.left_out):
                    entries = _agreed(agreement, scale=100 if measure in _SHARES else 1)
                    heading = gettext(title) + (" (%)" if measure in _SHARES else "")
                    rows.append((TableCell(heading, hover=gettext(definition)), TableCell(system.name), *entries))
        who = gettext("all speakers") if key == EVERYONE else gettext("speaker {code}").format(code=key)
        yield ReportTable(
            gettext("Language-sample measures: {who}").format(who=who),
            lead,
            head_cells("Measure", "System", *_AGREEMENT),
            tuple(rows),
            folded=key != EVERYONE,
        )


def _agreed(agreement: Agreement, scale: float = 1) -> tuple[TableCell, ...]:
    """Return the cells under :data:`_AGREEMENT`, all values of a row with the same decimals."""
    means = agreement.reference_mean, agreement.hypothesis_mean
    values = [*means, agreement.bias, agreement.mean_absolute, agreement.low, agreement.high]
    scaled = [None if value is None else scale * value for value in values]
    decimals = cells.decimals_for(*scaled[:2])
    reference, hypothesis, bias, absolute, low, high = (
        cells.plain_number(value, decimals, sign=at in {2, 4, 5}) for at, value in enumerate(scaled)
    )
    limits = "-" if agreement.low is None else range_text(low, high)
    texts = reference, hypothesis, bias, absolute, limits, cells.plain_number(agreement.icc, 2), str(agreement.samples)
    return tuple(map(TableCell, texts))


def _speakers(systems: Sequence[System]) -> ReportTable:
    rows = []
    for code in dict.fromkeys(code for system in systems for code in system.total.by_speaker):
        for system in systems:
            rows.append((TableCell(code), TableCell(system.name), *error_cells(system.total.by_speaker[code])))
    return ReportTable(
        gettext("Word errors by speaker code"),
        gettext("By speaker in the reference. An insertion is counted with the speaker of the adjacent words."),
        head_cells("Speaker", "System", *ERROR_HEADS),
        tuple(rows),
        folded=True,
        sortable=True,
    )


def _files(systems: Sequence[System]) -> ReportTable:
    rows = []
    for number, first in enumerate(systems[0].files):
        for system in systems:
            scores = system.files[number]
            name = TableCell(system.name, gettext("no transcript") if scores.missing else "")
            together = scores.disfluency.only(system.supported_classes).together
            f1 = TableCell(gettext(NOT_TRANSCRIBED) if system.has_gaps else percent(together.f1))
            rows.append((TableCell(first.key), name, *error_cells(scores.verbatim), f1))
    return ReportTable(
        gettext("By file"),
        gettext("F1 covers all disfluency classes that the system supports."),
        head_cells("File", "System", *ERROR_HEADS, "F1"),
        tuple(rows),
        folded=True,
        sortable=True,
    )
