"""The tables of a report, as text with hover definitions; the Markdown and the HTML report show the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.evaluate.breakdown import breakdowns, confusions
from lsa_whisper.evaluate.glossary import CLASSES, MEASURES
from lsa_whisper.evaluate.results import Evaluation
from lsa_whisper.evaluate.table import COUNTED, Entry, Table, counted, head, with_interval
from lsa_whisper.evaluate.text import listed, percent
from lsa_whisper.scoring.agreement import Agreement
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.file_scores import EVERYONE
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.system import System

_SHARES = {"ttr", "mattr", "maze_share"}


def tables(evaluation: Evaluation) -> list[Table]:
    """Return every table of the report that has something to show."""
    systems = list(evaluation.systems.values())
    found = _headline(systems), _better(evaluation), _disfluencies(systems), *confusions(systems), _rates(systems)
    made = *found, *_language(systems), *breakdowns(evaluation), _speakers(systems), _files(systems)
    return [table for table in made if table.rows]


def _headline(systems: Sequence[System]) -> Table:
    rows = [
        (Entry(m.title, m.abbreviation, m.definition), *(with_interval(s.value(m), s.interval(m)) for s in systems))
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


def _better(evaluation: Evaluation) -> Table:
    rows = []
    for (metric, name), shown in evaluation.better_in.items():
        others = [d.worse(name) for d in shown]
        each = "; ".join(f"{other}: by {d.points}" for other, d in zip(others, shown, strict=True))
        than = Entry(listed(others), hover=each if len(shown) > 1 else "")
        size = Entry(shown[0].points if len(shown) == 1 else "")
        rows.append((Entry(metric.title, metric.abbreviation, metric.definition), Entry(name), than, size))
    return Table(
        "Which is better",
        "Only where chance hardly explains it: the range of the difference, on the same files, leaves out zero.",
        head("Measure", "System", "Better than", "By"),
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
                dashes = (Entry("-"),) * 6
                rows.append((*title, Entry("not scored", hover="This system has no way to write this."), *dashes))
                continue
            counts = found.true_positives, found.false_negatives, found.false_positives
            rates = Entry(percent(found.precision)), Entry(percent(found.recall))
            f1 = with_interval(found.f1, system.class_interval(kind))
            timed = Entry(percent(system.timed[kind].f1))
            rows.append((*title, *(Entry(str(count)) for count in counts), *rates, f1, timed))
    return Table(
        "Disfluencies found, by class",
        "A disfluency counts as found when the system's transcript has one of the same class at the same words.",
        head("Class", "System", "In reference", "Found", "Missed", "Made up", "Precision", "Recall", "F1", "Timed F1"),
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
        head("Class", "System", *_AGREEMENT),
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
            head("Measure", "System", *_AGREEMENT),
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
            rows.append((Entry(code), Entry(system.name), *counted(system.word_errors_by_speaker[code])))
    return Table(
        "Word errors by speaker code",
        "By who spoke, in the reference. Added words are counted with the speaker beside whose words they stand.",
        head("Speaker", "System", *COUNTED),
        tuple(rows),
        folded=True,
    )


def _files(systems: Sequence[System]) -> Table:
    rows = []
    for number, first in enumerate(systems[0].files):
        for system in systems:
            scores = system.files[number]
            name = Entry(system.name, "no transcript" if scores.missing else "")
            f1 = Entry(percent(scores.disfluency.only(system.writable).together.f1))
            rows.append((Entry(first.key), name, *counted(scores.verbatim), f1))
    return Table(
        "By file",
        "F1 is over all disfluencies the system can write.",
        head("File", "System", *COUNTED, "F1"),
        tuple(rows),
        folded=len(rows) > 24,
    )
