"""The alignment of a file as reports show it: reference utterances, each with the columns of its alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.words import FileWords
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True, slots=True)
class AlignedColumn:
    """One column of an alignment. ``operation`` is ``=`` hit, ``s``, ``d``, ``i``, or ``x`` excluded."""

    reference: str
    hypothesis: str
    operation: str
    reference_class: Disfluency | None = None
    hypothesis_class: Disfluency | None = None


@dataclass(frozen=True, slots=True)
class AlignedUtterance:
    """One reference utterance, aligned.

    ``utterance`` is its index in the file; -1 holds the hypothesis words of a file whose reference has no words.
    """

    utterance: int
    speaker: str
    span: TimeSpan | None
    text: str
    errors: WordErrors
    columns: tuple[AlignedColumn, ...]


def aligned_utterances(
    alignment: Alignment,
    reference: FileWords,
    hypothesis: FileWords,
    utterances: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[AlignedUtterance, ...]:
    """Return the aligned utterances in order; if the reference has no words, all columns are in a single one."""
    shown = _columns(alignment, reference, hypothesis)
    aligned = []
    numbers = range(len(reference.utterances)) if len(reference.words) else ([UNALIGNED] if shown else [])
    for number in numbers:
        columns = utterances == number
        about: tuple[str, TimeSpan | None, str] = ("", None, "")
        if number != UNALIGNED:
            utterance = reference.utterances[number]
            about = utterance.speaker, utterance.span, utterance.text
        own = tuple(shown[column] for column in np.flatnonzero(columns))
        aligned.append(AlignedUtterance(number, *about, alignment.errors_where(columns), own))
    return tuple(aligned)


def _columns(alignment: Alignment, reference: FileWords, hypothesis: FileWords) -> list[AlignedColumn]:
    """Return every column of the alignment."""
    reference_classes, hypothesis_classes = _classes(reference), _classes(hypothesis)
    return [
        AlignedColumn(
            "" if r == UNALIGNED else reference.surface[r],
            "" if h == UNALIGNED else hypothesis.surface[h],
            _operation(alignment, column),
            None if r == UNALIGNED else reference_classes[r],
            None if h == UNALIGNED else hypothesis_classes[h],
        )
        for column, (r, h) in enumerate(alignment)
    ]


def _operation(alignment: Alignment, column: int) -> str:
    r, h = alignment.pairs[column]
    if alignment.excluded[column]:
        return "x"
    if r == UNALIGNED:
        return "i"
    if h == UNALIGNED:
        return "d"
    return "=" if alignment.equal[column] else "s"


def _classes(words: FileWords) -> list[Disfluency | None]:
    """Return, per word, its disfluency class: of nested events, that of the shortest."""
    classes: list[Disfluency | None] = [None] * len(words.words)
    for event in sorted(words.events, key=lambda event: event.start - event.end):
        classes[event.start : event.end] = [event.kind] * (event.end - event.start)
    return classes
