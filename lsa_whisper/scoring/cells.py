"""The alignment of a file as it is shown: one row per reference utterance, one cell per column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.align import NOTHING, Alignment
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.words import FileWords
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True, slots=True)
class Cell:
    """One column of an aligned utterance. ``operation`` is ``=`` hit, ``s``, ``d``, ``i``, or ``x`` excluded."""

    reference: str
    hypothesis: str
    operation: str
    reference_class: Disfluency | None = None
    hypothesis_class: Disfluency | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One reference utterance, aligned.

    ``utterance`` counts the utterances of its file from 0; -1 holds what was written of a file without any word.
    """

    utterance: int
    speaker: str
    span: TimeSpan | None
    text: str
    errors: WordErrors
    cells: tuple[Cell, ...]


def aligned_rows(
    alignment: Alignment,
    reference: FileWords,
    hypothesis: FileWords,
    utterances: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[Row, ...]:
    """Return the aligned utterances in order; words heard where the reference has none at all make one last row."""
    cells = _cells(alignment, reference, hypothesis)
    rows = []
    numbers = range(len(reference.utterances)) if len(reference.words) else ([NOTHING] if cells else [])
    for number in numbers:
        columns = utterances == number
        about: tuple[str, TimeSpan | None, str] = ("", None, "")
        if number != NOTHING:
            utterance = reference.utterances[number]
            about = utterance.speaker, utterance.span, utterance.text
        own = tuple(cells[column] for column in np.flatnonzero(columns))
        rows.append(Row(number, *about, alignment.errors_where(columns), own))
    return tuple(rows)


def _cells(alignment: Alignment, reference: FileWords, hypothesis: FileWords) -> list[Cell]:
    """Return every column of the alignment as it is shown."""
    said_class, heard_class = _classes(reference), _classes(hypothesis)
    return [
        Cell(
            "" if r == NOTHING else reference.surface[r],
            "" if h == NOTHING else hypothesis.surface[h],
            _operation(alignment, column),
            None if r == NOTHING else said_class[r],
            None if h == NOTHING else heard_class[h],
        )
        for column, (r, h) in enumerate(alignment)
    ]


def _operation(alignment: Alignment, column: int) -> str:
    r, h = alignment.pairs[column]
    if alignment.excluded[column]:
        return "x"
    if r == NOTHING:
        return "i"
    if h == NOTHING:
        return "d"
    return "=" if alignment.equal[column] else "s"


def _classes(words: FileWords) -> list[Disfluency | None]:
    """Return, per word, the disfluency to show: the one that covers the fewest words."""
    shown: list[Disfluency | None] = [None] * len(words.words)
    for event in sorted(words.events, key=lambda event: event.start - event.end):
        shown[event.start : event.end] = [event.kind] * (event.end - event.start)
    return shown
