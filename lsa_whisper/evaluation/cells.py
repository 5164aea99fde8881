"""Cells of the report's tables: rates with their intervals, word error counts, column heads with their definitions."""

from __future__ import annotations

from lsa_whisper.chat import Disfluency
from lsa_whisper.page.language import gettext, page_number
from lsa_whisper.page.tables import TableCell
from lsa_whisper.page.terms import class_definition, class_title
from lsa_whisper.page.text import range_text
from lsa_whisper.scoring.bootstrap import MIN_EVENTS, Interval, wilson_interval
from lsa_whisper.scoring.counts import WordErrors

COLUMNS: dict[str, str] = {
    "In reference": "How many the reference transcript has.",
    "Found": "In the reference and, at the same words, in the system's transcript (true positives).",
    "Missed": "In the reference, but not in the system's transcript (false negatives).",
    "False alarms": "In the system's transcript, but not in the reference (false positives).",
    "Share found": "Found, of those in the reference. Of fewer than ten, no share is given: too few to judge.",
    "Spoken": "How often the reference has the word.",
    "Left out": "How often the system left it out.",
    "Replaced": "How often the system wrote another word.",
    "Made up": "How often the system wrote it where it was not spoken.",
    "Precision": "The share of those in the system's transcript that are correct.",
    "Recall": "The share of those in the reference that were found.",
    "F1": "The harmonic mean of precision and recall: 100 % if all are found without false alarms.",
    "Timed F1": "F1 by time: found if one of the same class begins at the same time, even if the words differ.",
    "Reference": "The mean over files, measured from the reference transcripts.",
    "Transcript": "The mean over files, measured from the system's transcripts.",
    "Bias": "The mean of transcript minus reference: above 0 the system's values are too high.",
    "Mean absolute error": "The mean size of the difference, regardless of its sign.",
    "Limits of agreement": "Bland-Altman limits: about 95 % of the differences of single files lie between them.",
    "ICC": "Intraclass correlation ICC(A,1): 1 is perfect agreement, 0 none.",
    "Words": "Scored words of the reference.",
    "Substitutions": "Words that the system replaced with another word.",
    "Deletions": "Words that the system left out.",
    "Insertions": "Words in the system's transcript that were not spoken.",
    "Word errors": "Word error rate: substitutions, deletions and insertions per 100 words spoken.",
    "Inserted in silence": "Inserted words whose time lies outside every utterance of the reference.",
    "Minutes of silence": "Time outside the reference's utterances, in files in which every utterance has times.",
    "Per minute": "Inserted words per minute of silence; no rate is given for fewer than ten words.",
    "Utterances with a run": "Utterances of the system with five or more consecutive inserted words.",
    "Words in loops": "Inserted words in repetition loops: the same words four or more times in a row, most of them "
    "insertions.",
    "cpWER": "Concatenated minimum-permutation word error rate: the words of each speaker are concatenated and "
    "speakers are matched so that errors are fewest. A word attributed to the wrong speaker counts twice.",
    "tcpWER": "Time-constrained cpWER: words match only within 5 seconds of each other.",
    "ORC-WER": "Optimal reference combination word error rate: each utterance of the reference is assigned to the "
    "speaker of the system that it fits best, so that wrong speakers do not count.",
    "Characters": "Letters of the reference's words in disfluencies of the class.",
    "Character errors": "Substituted, deleted and inserted letters per 100.",
    "Files": "The number of files in which both values are defined.",
}


ERROR_HEADS = ("Word errors", "Words", "Substitutions", "Deletions", "Insertions")
"""Column heads of word errors; the rate comes first, where a narrow screen shows it."""


def percent(value: float | None, interval: Interval | None = None) -> str:
    """Return a share as text, with its interval if there is one.

    >>> percent(0.125), percent(None), percent(0.1, Interval(0.05, 0.2))
    ('12.5 %', '-', '10.0 % (5.0 to 20.0)')
    """
    if value is None:
        return "-"
    if interval is None:
        return page_number(f"{100 * value:.1f} %")
    return f"{percent(value)} ({_percents(interval)})"


def _percents(interval: Interval) -> str:
    return range_text(*(page_number(f"{100 * end:.1f}") for end in (interval.low, interval.high)))


def head_cells(*names: str) -> tuple[TableCell, ...]:
    """Return the head of a table; names in the glossary show their definition on hover."""
    return tuple(TableCell(gettext(name), hover=gettext(COLUMNS.get(name, ""))) for name in names)


def class_cell(kind: Disfluency) -> TableCell:
    """Return the title of a class, with its meaning on hover."""
    return TableCell(class_title(kind), hover=class_definition(kind))


def count_cells(*counts: int) -> tuple[TableCell, ...]:
    """Return a cell for each of ``counts``."""
    return tuple(TableCell(page_number(f"{count:,}")) for count in counts)


def interval_cell(value: float | None, interval: Interval | None) -> TableCell:
    """Return the cell of a share, its confidence interval in small print."""
    bounds = interval_or_none(interval)
    return TableCell(percent(value), "" if bounds is None else _percents(bounds))


def interval_or_none(interval: Interval | None) -> Interval | None:
    """Return ``interval``, unless it is one point: all resamples agree, which shows no certainty.

    >>> interval_or_none(Interval(0.0, 0.0)) is None
    True
    """
    return None if interval is None or interval.low == interval.high else interval


def share_cell(count: int, of: int) -> TableCell:
    """Return the cell of a share of few events, with Wilson's interval, or that there are too few to judge.

    >>> share_cell(0, 4).text, share_cell(56, 82).small
    ('too few to judge', '57.6 to 77.4')
    """
    interval = wilson_interval(count, of)
    if interval is None:
        return TableCell("-")
    small = _percents(interval)
    if of < MIN_EVENTS:
        return TableCell(gettext("too few to judge"), small)
    return TableCell(percent(count / of), small)


def plain_number(value: float | None, decimals: int, *, sign: bool = False) -> str:
    """Return a number with a fixed number of decimals, and zero without a sign.

    >>> plain_number(-0.001, 2), plain_number(1.5, 1, sign=True), plain_number(-0.0, 1, sign=True)
    ('0.00', '+1.5', '0.0')
    """
    if value is None:
        return "-"
    rounded = round(value, decimals)
    return page_number(f"{rounded:{'+' if sign and rounded else ''}.{decimals}f}" if rounded else f"{0:.{decimals}f}")


def decimals_for(*values: float | None) -> int:
    """Return how many decimals a row of measures needs: about three digits of its largest value.

    >>> decimals_for(185.67, 180.0), decimals_for(12.34), decimals_for(1.5), decimals_for(None)
    (0, 1, 2, 2)
    """
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return 0 if largest >= 100 else 1 if largest >= 10 else 2


def error_cells(errors: WordErrors) -> tuple[TableCell, ...]:
    """Return the cells under :data:`ERROR_HEADS`."""
    counts = errors.reference_words, errors.substitutions, errors.deletions, errors.insertions
    return (TableCell(percent(errors.rate)), *count_cells(*counts))
