"""One reference file against one hypothesis file: everything that is counted, and the alignment to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.evaluate.align import NOTHING, Alignment
from lsa_whisper.evaluate.counts import Detections, WordErrors
from lsa_whisper.evaluate.disfluency import DisfluencyScores, score_disfluencies
from lsa_whisper.evaluate.language import LanguageSample, by_speaker, measure
from lsa_whisper.evaluate.segmentation import boundaries
from lsa_whisper.evaluate.wer import (
    align_verbatim,
    character_errors,
    errors_by_speaker,
    fluent_errors,
    utterance_of_columns,
)
from lsa_whisper.evaluate.words import FileWords, file_words
from lsa_whisper.timespan import TimeSpan

EVERYONE = "everyone"
"""The key of the language sample of all speakers together."""


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


@dataclass(frozen=True)
class FileScores:
    """The counts of one file. ``missing``: there was no hypothesis, so every word counts as deleted."""

    key: str
    missing: bool
    verbatim: WordErrors
    verbatim_raw: WordErrors
    fluent: WordErrors
    fluent_raw: WordErrors
    characters: WordErrors
    by_speaker: dict[str, WordErrors]
    disfluency: DisfluencyScores
    written: frozenset[Disfluency]
    boundaries: Detections
    fluent_words: tuple[int, int]
    """In the reference, in the hypothesis."""
    dropped: int
    samples: dict[str, tuple[LanguageSample, LanguageSample | None]]
    """Per speaker (and :data:`EVERYONE`): reference, hypothesis; ``None`` where the hypothesis has no such speaker."""
    rows: tuple[Row, ...] = ()

    def rate(self, kind: Disfluency) -> tuple[float | None, float | None]:
        """Return the events per 100 fluent words, in the reference and in the hypothesis."""
        found = self.disfluency[kind]
        events = found.reference_events, found.hypothesis_events
        rates = [100 * count / words if words else None for count, words in zip(events, self.fluent_words, strict=True)]
        return rates[0], rates[1]


def score(
    key: str, reference: Sequence[Utterance], hypothesis: Sequence[Utterance] | None, *, rows: bool = True
) -> FileScores:
    """Return the scores of one file.

    Args:
        key: the name of the file.
        reference: its utterances.
        hypothesis: the utterances of the system, or ``None`` when it wrote no such file.
        rows: whether to keep the aligned utterances.
    """
    said, heard = file_words(reference), file_words(hypothesis or (), keep_unintelligible=False)
    alignment = align_verbatim(said, heard)
    same = (said.words, heard.words) == (said.raw_words, heard.raw_words)
    raw = alignment if same else align_verbatim(said, heard, raw_fillers=True)
    utterances = utterance_of_columns(alignment, said, heard)
    fluent = fluent_errors(said, heard)
    return FileScores(
        key=key,
        missing=hypothesis is None,
        verbatim=alignment.errors,
        verbatim_raw=raw.errors,
        fluent=fluent.cleaned,
        fluent_raw=fluent.raw,
        characters=character_errors(said, heard, alignment),
        by_speaker=errors_by_speaker(alignment, said, utterances),
        disfluency=score_disfluencies(said, heard, alignment),
        written=frozenset(event.kind for event in heard.events),
        boundaries=boundaries(said, heard, alignment),
        fluent_words=(int((~said.fluent_unintelligible).sum()), len(heard.fluent)),
        dropped=heard.dropped,
        samples=_samples(reference, hypothesis or ()),
        rows=_rows(alignment, said, heard, utterances) if rows else (),
    )


def _samples(
    reference: Sequence[Utterance], hypothesis: Sequence[Utterance]
) -> dict[str, tuple[LanguageSample, LanguageSample | None]]:
    """Return the language samples of everyone, and of each speaker that has a counterpart.

    A hypothesis whose speakers are called otherwise says nothing about single speakers.
    """
    said, heard = by_speaker(reference), by_speaker(hypothesis)
    samples: dict[str, tuple[LanguageSample, LanguageSample | None]] = {
        EVERYONE: (measure(reference), measure(hypothesis))
    }
    if len(said) > 1:
        for code, utterances in said.items():
            samples[code] = measure(utterances), measure(heard[code]) if code in heard else None
    return samples


def _rows(
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
