"""The tables of a report, as text with hover definitions; the Markdown and the HTML report show the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lsa_whisper.evaluate.agreement import Agreement
from lsa_whisper.evaluate.bootstrap import Interval
from lsa_whisper.evaluate.disfluency import SCORED
from lsa_whisper.evaluate.glossary import CLASSES, COLUMNS, MEASURES
from lsa_whisper.evaluate.metrics import METRICS
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.evaluate.score import EVERYONE
from lsa_whisper.evaluate.system import System
from lsa_whisper.evaluate.text import percent

_SHARES = {"ttr", "mattr", "maze_share"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell: its text, a smaller remark below it, and what pointing at it explains."""

    text: str
    small: str = ""
    hover: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title and a sentence that says how to read it; ``folded`` ones open on demand."""

    title: str
    lead: str
    head: tuple[Entry, ...]
    rows: tuple[tuple[Entry, ...], ...]
    folded: bool = False

    @property
    def by_system(self) -> bool:
        """Whether rows that share their first cell belong together, one per system."""
        return len(self.head) > 1 and self.head[1].text == "System"

    @property
    def groups(self) -> list[list[tuple[Entry, ...]]]:
        """The rows; those that belong together in one list."""
        if not self.by_system:
            return [[row] for row in self.rows]
        return [list(rows) for _, rows in groupby(self.rows, key=lambda row: row[0])]


def tables(evaluation: Evaluation) -> list[Table]:
    """Return every table of the report that has something to show."""
    systems = list(evaluation.systems.values())
    made = (_headline(systems), _disfluencies(systems), _rates(systems), *_language(systems), _speakers(systems))
    return [table for table in (*made, _files(systems)) if table.rows]


def _head(*names: str) -> tuple[Entry, ...]:
    return tuple(Entry(name, hover=COLUMNS.get(name, "")) for name in names)


def _with_interval(value: float | None, interval: Interval | None) -> Entry:
    small = "" if interval is None else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    return Entry(percent(value), small)


def _headline(systems: Sequence[System]) -> Table:
    rows = [
        (Entry(m.title, m.abbreviation, m.definition), *(_with_interval(s.value(m), s.interval(m)) for s in systems))
        for m in METRICS
    ]
    errors = [system.word_errors_verbatim for system in systems]
    rows.append((Entry("Words scored"), *(Entry(f"{e.reference_words:,}") for e in errors)))
    if any(e.excluded_reference for e in errors):
        excluded = "Places where the reference has xxx: what the system wrote there is neither right nor wrong."
        texts = (Entry(f"{e.excluded_reference:,}", f"{e.excluded_hypothesis:,} words written there") for e in errors)
        rows.append((Entry("Unintelligible places left out", hover=excluded), *texts))
    ranges = (
        "Below each figure: the range it lies in with 95 % confidence, had other files of the same kind been taken."
    )
    return Table(
        "At a glance",
        ranges if len(systems[0].files) > 1 else "A single file: nothing can be said about how sure these figures are.",
        (Entry("Measure"), *(Entry(system.name) for system in systems)),
        tuple(rows),
    )


def _disfluencies(systems: Sequence[System]) -> Table:
    rows: list[tuple[Entry, ...]] = []
    for kind in SCORED:
        for system in systems:
            found = system.disfluency[kind]
            if not found.reference_events and not found.hypothesis_events:
                continue
            title = (
                Entry(CLASSES[kind][0], hover=CLASSES[kind][1]),
                Entry(system.name),
                Entry(str(found.reference_events)),
            )
            if found.not_scored:
                dashes = (Entry("-"),) * 5
                rows.append((*title, Entry("not scored", hover="This system has no way to write this."), *dashes))
                continue
            counts = found.true_positives, found.false_negatives, found.false_positives
            rates = Entry(percent(found.precision)), Entry(percent(found.recall))
            f1 = _with_interval(found.f1, system.class_interval(kind))
            rows.append((*title, *(Entry(str(count)) for count in counts), *rates, f1))
    return Table(
        "Disfluencies found, by class",
        "A disfluency counts as found when the system's transcript has one of the same class at the same words.",
        _head("Class", "System", "In reference", "Found", "Missed", "Made up", "Precision", "Recall", "F1"),
        tuple(rows),
    )


_AGREEMENT = ("Reference", "Transcript", "Difference", "Typical error", "95 % of differences", "Agreement", "Files")


def _rates(systems: Sequence[System]) -> Table:
    rows = []
    for kind in SCORED:
        for system in systems:
            agreed = system.rate_agreement(kind)
            if agreed.reference_mean or agreed.hypothesis_mean:
                title = Entry(CLASSES[kind][0], hover=CLASSES[kind][1])
                rows.append((title, Entry(system.name), *_agreed(agreed)))
    return Table(
        "How often: disfluencies per 100 words",
        "Counted separately in the reference and in the system's transcript, file by file, per 100 meant words.",
        _head("Class", "System", *_AGREEMENT),
        tuple(rows),
    )


def _language(systems: Sequence[System]) -> Iterator[Table]:
    lead = "Each measure taken from the reference and from the system's transcript of the same file."
    keys = list(dict.fromkeys(key for system in systems for key in system.sample_keys))
    for key in keys:
        rows = []
        for measure, (title, definition) in MEASURES.items():
            for system in systems:
                agreed = system.language_agreement(measure, key)
                if agreed.samples:
                    entries = _agreed(agreed, scale=100 if measure in _SHARES else 1)
                    shown = f"{title} (%)" if measure in _SHARES else title
                    rows.append((Entry(shown, hover=definition), Entry(system.name), *entries))
        who = "everyone together" if key == EVERYONE else f"speaker {key}"
        yield Table(
            f"Language-sample measures: {who}",
            lead,
            _head("Measure", "System", *_AGREEMENT),
            tuple(rows),
            folded=key != EVERYONE,
        )


def _agreed(agreed: Agreement, scale: float = 1) -> tuple[Entry, ...]:
    def shown(value: float | None, form: str = ".2f") -> str:
        return "-" if value is None else format(scale * value, form)

    limits = "-" if agreed.low is None else f"{shown(agreed.low, '+.2f')} to {shown(agreed.high, '+.2f')}"
    texts = shown(agreed.reference_mean), shown(agreed.hypothesis_mean), shown(agreed.bias, "+.2f")
    icc = "-" if agreed.icc is None else f"{agreed.icc:.2f}"
    return tuple(Entry(t) for t in (*texts, shown(agreed.mean_absolute), limits, icc, str(agreed.samples)))


def _speakers(systems: Sequence[System]) -> Table:
    rows = []
    for code in dict.fromkeys(code for system in systems for code in system.word_errors_by_speaker):
        for system in systems:
            errors = system.word_errors_by_speaker[code]
            counts = errors.reference_words, errors.substitutions, errors.deletions, errors.insertions
            texts = (Entry(f"{count:,}") for count in counts)
            rows.append((Entry(code), Entry(system.name), *texts, Entry(percent(errors.rate))))
    return Table(
        "Word errors by speaker",
        "By who spoke, in the reference. Added words are counted with the speaker beside whose words they stand.",
        _head("Speaker", "System", "Words", "Replaced", "Left out", "Added", "Word errors"),
        tuple(rows),
    )


def _files(systems: Sequence[System]) -> Table:
    rows = []
    for number, first in enumerate(systems[0].files):
        for system in systems:
            scores = system.files[number]
            errors = scores.verbatim
            counts = errors.reference_words, errors.substitutions, errors.deletions, errors.insertions
            name = Entry(system.name, "no transcript" if scores.missing else "")
            f1 = Entry(percent(scores.disfluency.only(system.writable).together.f1))
            texts = (Entry(f"{count:,}") for count in counts)
            rows.append((Entry(first.key), name, *texts, Entry(percent(errors.rate)), f1))
    return Table(
        "By file",
        "F1 is over all disfluencies the system can write.",
        _head("File", "System", "Words", "Replaced", "Left out", "Added", "Word errors", "F1"),
        tuple(rows),
        folded=len(rows) > 24,
    )
