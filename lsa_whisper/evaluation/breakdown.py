"""Tables that break errors down: confusions, roles, ages, lengths, insertions, speakers, rules of other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.evaluation.cells import ERROR_HEADS, class_cell, count_cells, error_cells, head_cells, percent
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.page.language import gettext, page_number
from lsa_whisper.page.tables import ReportTable, TableCell
from lsa_whisper.scoring.bootstrap import MIN_EVENTS
from lsa_whisper.scoring.confusion import NO_WORDS, PLAIN_WORDS
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.groups import band_sort_key
from lsa_whisper.scoring.published import MODES
from lsa_whisper.scoring.system import System
from lsa_whisper.scoring.verbatim_benchmark import TYPED_RULES, TYPES, pooled

_GROUPS = {
    "role": ("Word errors by role", "By the speaker's role (@ID in the reference).", "Role"),
    "age": ("Word errors by age", "By the speaker's age, if @ID gives one.", "Age"),
    "length": (
        "Word errors by length of utterance",
        "By the number of words spoken. A single insertion raises the rate of short utterances considerably.",
        "Length",
    ),
}
_OTHERS = {PLAIN_WORDS: "Words without a disfluency mark.", NO_WORDS: "No word."}


def breakdowns(evaluation: Evaluation) -> Iterator[ReportTable]:
    """Yield the tables by group, of inserted words, of speakers, and of every requested mode."""
    systems = list(evaluation.systems.values())
    for group, (title, lead, name) in _GROUPS.items():
        yield _grouped(systems, group, title, lead, name)
    yield _insertions(systems)
    if evaluation.options.speakers:
        yield _speaker_attribution(evaluation)
    for mode in evaluation.options.published:
        yield _published(systems, mode)
    if evaluation.options.typed:
        yield _typed(systems)
    yield _class_characters(systems)


def confusions(systems: Sequence[System]) -> Iterator[ReportTable]:
    """Yield the disfluency confusion matrix of each system."""
    for system in systems:
        counts = system.total.confusion
        kinds = [kind.value for kind in SCORED if any(kind.value in pair for pair in counts)]
        if not kinds:
            continue
        titles = {kind.value: class_cell(kind) for kind in SCORED}
        titles |= {name: TableCell(gettext(name.capitalize()), hover=gettext(text)) for name, text in _OTHERS.items()}
        rows = [
            (titles[row], *(_count(counts[row, column], row == column) for column in (*kinds, *_OTHERS)))
            for row in (*kinds, *_OTHERS)
        ]
        name = f": {system.name}" if len(systems) > 1 else ""
        yield ReportTable(
            gettext("Disfluency confusion matrix") + name,
            gettext(
                "Rows: the reference. Columns: the system's transcript at the same words. On the diagonal the class is "
                "correct; the table of detections above shows how much is correct in full."
            ),
            (TableCell(gettext("Reference")), *(titles[column] for column in (*kinds, *_OTHERS))),
            tuple(rows),
            for_engineers=True,
            matrix=True,
        )


def _count(count: int, correct: bool) -> TableCell:
    return TableCell(page_number(f"{count:,}") if count else "", correct=correct and count > 0)


def _grouped(systems: Sequence[System], group: str, title: str, lead: str, name: str) -> ReportTable:
    by_system = [system.word_errors_by(group) for system in systems]
    labels = sorted({label for errors in by_system for label in errors}, key=band_sort_key)
    rows = [
        (TableCell(label), TableCell(system.name), *error_cells(errors[label]))
        for label in labels
        for system, errors in zip(systems, by_system, strict=True)
    ]
    head = head_cells(name, "System", *ERROR_HEADS)
    return ReportTable(gettext(title), gettext(lead), head, tuple(rows), folded=True)


def _insertions(systems: Sequence[System]) -> ReportTable:
    rows = []
    for system in systems:
        counts = system.total.hallucinations
        rate = counts.words_per_minute_of_silence
        texts = (
            page_number(f"{counts.words_in_silence:,}"),
            page_number(f"{counts.silence_ms / 60_000:.1f}"),
            "-" if rate is None or counts.words_in_silence < MIN_EVENTS else page_number(f"{rate:.2f}"),
            f"{page_number(f'{counts.runs:,}')} ({percent(counts.share_with_runs)})",
            page_number(f"{counts.words_in_loops:,}"),
        )
        rows.append((TableCell(system.name), *(TableCell(text) for text in texts)))
    columns = "Inserted in silence", "Minutes of silence", "Per minute", "Utterances with a run"
    return ReportTable(
        gettext("Inserted words (hallucinations)"),
        gettext("Speech recognizers can insert fluent sentences in silence, or repeat words in a loop."),
        head_cells("System", *columns, "Words in loops"),
        tuple(rows),
        for_engineers=True,
    )


def _speaker_attribution(evaluation: Evaluation) -> ReportTable:
    rows = []
    for s in evaluation.systems.values():
        rates = (evaluation.speaker_text(s, rate) for rate in (s.total.speakers.cp, s.total.speakers.tcp))
        cells = (*rates, percent(s.total.speakers.orc))
        rows.append((TableCell(s.name), *count_cells(s.total.speakers.cp_words), *map(TableCell, cells)))
    return ReportTable(
        gettext("Speaker-attributed word errors"),
        gettext(
            "Word errors, including words attributed to the wrong speaker (by meeteval). xxx is excluded on both "
            "sides. A system that writes one speaker for several is not scored."
        ),
        head_cells("System", "Words", "cpWER", "tcpWER", "ORC-WER"),
        tuple(rows),
        for_engineers=True,
    )


def _typed(systems: Sequence[System]) -> ReportTable:
    rows = []
    for name in ("all together", *TYPES):
        for system in systems:
            score = pooled(system.total.typed) if name == "all together" else system.total.typed.get(name, Detections())
            counts = (score.reference_events, score.true_positives, score.false_negatives, score.false_positives)
            f1 = TableCell(percent(score.f1))
            rows.append((TableCell(gettext(name)), TableCell(system.name), *count_cells(*counts), f1))
    return ReportTable(
        gettext("As in the Nyra Verbatim Speech Benchmark"),
        TYPED_RULES,
        head_cells("Type", "System", "In reference", "Found", "Missed", "False alarms", "F1"),
        tuple(rows),
        for_engineers=True,
    )


def _class_characters(systems: Sequence[System]) -> ReportTable:
    rows = []
    for kind in SCORED:
        for system in systems:
            errors = system.total.class_characters.get(kind.value)
            if errors is not None:
                counts = (*count_cells(errors.reference_words), TableCell(percent(errors.rate)))
                rows.append((class_cell(kind), TableCell(system.name), *counts))
    return ReportTable(
        gettext("Character errors by class"),
        gettext(
            "In the words of disfluencies of each class, compared with the words aligned with them; inserted words "
            "belong to no class. After the figures that ETS Montreal reports for AphasiaBank, whose rules could not be "
            "verified."
        ),
        head_cells("Class", "System", "Characters", "Character errors"),
        tuple(rows),
        for_engineers=True,
    )


def _published(systems: Sequence[System], mode: str) -> ReportTable:
    rows = [(TableCell(system.name), *error_cells(system.total.published[mode])) for system in systems]
    about = MODES[mode]
    return ReportTable(
        gettext("Word errors by the rules of {tool}").format(tool=about.title),
        gettext(
            "Rules of another tool, not comparable with any other figure here. {rules} Not measured: {not_measured}."
        ).format(rules=about.rules, not_measured=about.not_measured),
        head_cells("System", *ERROR_HEADS),
        tuple(rows),
        for_engineers=True,
    )
