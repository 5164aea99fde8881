"""The tables that say where the errors are: what is taken for what, whose, how long, made up, by foreign rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.evaluate.cells import ERROR_HEADS, error_cells, head_cells, percent
from lsa_whisper.evaluate.glossary import CLASSES
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.page.tables import ReportTable, TableCell
from lsa_whisper.scoring.confusion import NO_WORDS, PLAIN_WORDS
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.groups import band_sort_key
from lsa_whisper.scoring.published import MODES
from lsa_whisper.scoring.system import System

_GROUPS = {
    "role": ("Word errors by role", "By the role of who spoke (@ID in the reference).", "Role"),
    "age": ("Word errors by age", "By the age of who spoke, where @ID gives one.", "Age"),
    "length": (
        "Word errors by length of utterance",
        "By how many words were spoken. Words added to short utterances weigh much.",
        "Length",
    ),
}
_OTHERS = {
    PLAIN_WORDS: "Words without any mark.",
    NO_WORDS: "No word at all.",
}


def breakdowns(evaluation: Evaluation) -> Iterator[ReportTable]:
    """Yield the tables by group, of what was made up, of speakers, and of every foreign mode asked for."""
    systems = list(evaluation.systems.values())
    for group, (title, lead, name) in _GROUPS.items():
        yield _grouped(systems, group, title, lead, name)
    yield _made_up(systems)
    if evaluation.options.speakers:
        yield _who(systems)
    for mode in evaluation.options.published:
        yield _published(systems, mode)


def confusions(systems: Sequence[System]) -> Iterator[ReportTable]:
    """Yield the disfluency confusion matrix of each system."""
    for system in systems:
        counts = system.confusion
        used = [kind.value for kind in SCORED if any(kind.value in pair for pair in counts)]
        if not used:
            continue
        titles = {kind.value: TableCell(CLASSES[kind][0], hover=CLASSES[kind][1]) for kind in SCORED}
        titles |= {name: TableCell(name.capitalize(), hover=text) for name, text in _OTHERS.items()}
        rows = [
            (titles[said], *(_count(counts[said, heard], said == heard) for heard in (*used, *_OTHERS)))
            for said in (*used, *_OTHERS)
        ]
        name = f": {system.name}" if len(systems) > 1 else ""
        yield ReportTable(
            f"What disfluencies are taken for{name}",
            "Rows: what the reference has. Columns: what the system has at the same words. The diagonal is right in "
            "kind; how much of it is right in full is in the table above.",
            (TableCell("Reference"), *(titles[heard] for heard in (*used, *_OTHERS))),
            tuple(rows),
            matrix=True,
        )


def _count(count: int, correct: bool) -> TableCell:
    return TableCell(f"{count:,}" if count else "", correct=correct and count > 0)


def _grouped(systems: Sequence[System], group: str, title: str, lead: str, name: str) -> ReportTable:
    found = [system.word_errors_by(group) for system in systems]
    labels = sorted({label for errors in found for label in errors}, key=band_sort_key)
    rows = [
        (TableCell(label), TableCell(system.name), *error_cells(errors[label]))
        for label in labels
        for system, errors in zip(systems, found, strict=True)
    ]
    return ReportTable(title, lead, head_cells(name, "System", *ERROR_HEADS), tuple(rows))


def _made_up(systems: Sequence[System]) -> ReportTable:
    rows = []
    for system in systems:
        found = system.hallucinations
        rate = found.words_per_minute_of_silence
        texts = (
            f"{found.words_in_silence:,}",
            f"{found.silence_ms / 60_000:.1f}",
            "-" if rate is None else f"{rate:.2f}",
            f"{found.runs:,} ({percent(found.share_with_runs)})",
            f"{found.looped_words:,}",
        )
        rows.append((TableCell(system.name), *(TableCell(text) for text in texts)))
    columns = "Added where nobody spoke", "Minutes without speech", "Per minute", "Utterances with a run"
    return ReportTable(
        "Words that nobody said",
        "Speech recognizers can write fluent sentences into silence, or go round in a loop.",
        head_cells("System", *columns, "Words in loops"),
        tuple(rows),
    )


def _who(systems: Sequence[System]) -> ReportTable:
    rows = [
        (
            TableCell(s.name),
            TableCell(f"{s.speakers.cp_words:,}"),
            TableCell(percent(s.speakers.cp)),
            TableCell(percent(s.speakers.tcp)),
        )
        for s in systems
    ]
    return ReportTable(
        "Who said what",
        "Word errors that count a word ascribed to the wrong speaker (by meeteval). xxx is left out on both sides.",
        head_cells("System", "Words", "cpWER", "tcpWER"),
        tuple(rows),
    )


def _published(systems: Sequence[System], mode: str) -> ReportTable:
    rows = [(TableCell(system.name), *error_cells(system.published_errors(mode))) for system in systems]
    about = MODES[mode]
    return ReportTable(
        about.title,
        f"Rules of another tool, not comparable with any other figure here. {about.rules} Not measured: "
        f"{about.not_measured}.",
        head_cells("System", *ERROR_HEADS),
        tuple(rows),
    )
