"""The alignment of a file as reports show it: reference utterances, each with the columns of its alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lsa_whisper.chat import Disfluency, Event
from lsa_whisper.chat.reading import innermost_kinds
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.timing import WordSpan, word_spans
from lsa_whisper.scoring.words import FileWords
from lsa_whisper.timespan import TimeSpan

_PAUSE = "(.)"


@dataclass(frozen=True, slots=True)
class AlignedColumn:
    """One column of an alignment.

    ``operation`` is ``=`` hit, ``s``, ``d``, ``i``, ``x`` excluded, or ``p`` for a pause, whose sign is on the side
    that has it.
    """

    reference: str
    hypothesis: str
    operation: str
    reference_class: Disfluency | None = None
    hypothesis_class: Disfluency | None = None
    reference_span: WordSpan | None = None
    hypothesis_span: WordSpan | None = None


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
    missed: tuple[Disfluency, ...] = ()
    """The classes of its disfluencies that were not found, one entry for each."""
    false_alarms: tuple[Disfluency, ...] = ()
    """The classes of disfluencies in its place that were not spoken, one entry for each."""
    pauses: tuple[tuple[int, AlignedColumn], ...] = ()
    """The pauses of both transcripts, each with the number of columns before it."""

    @property
    def columns_with_pauses(self) -> list[AlignedColumn]:
        """All columns in order, pauses between the words."""
        columns = list(self.columns)
        for before, pause in sorted(self.pauses, key=lambda place: place[0], reverse=True):
            columns.insert(before, pause)
        return columns


def aligned_utterances(
    alignment: Alignment,
    reference: FileWords,
    hypothesis: FileWords,
    utterances: np.ndarray[tuple[int], np.dtype[np.int64]],
    unmatched: tuple[Sequence[Event], Sequence[Event]] = ((), ()),
    *,
    with_spans: bool = False,
) -> tuple[AlignedUtterance, ...]:
    """Return the aligned utterances in order; if the reference has no words, all columns are in a single one.

    ``utterances`` has for each column of the alignment the reference utterance that it belongs to, -1 for none;
    ``unmatched`` the events that were missed, and those that were not spoken. With ``with_spans``, columns have the
    times of their words.
    """
    columns = _columns(alignment, reference, hypothesis, with_spans=with_spans)
    places = _Places(alignment, reference, utterances)
    missed, false_alarms = places.classes(unmatched)
    pauses = places.pauses(unmatched)
    rows, order = [], np.argsort(utterances, kind="stable")
    numbers = range(len(reference.utterances)) if len(reference.words) else ([UNALIGNED] if columns else [])
    edges = np.searchsorted(utterances[order], np.arange(UNALIGNED, len(reference.utterances) + 1))
    for number in numbers:
        indices = order[edges[number + 1] : edges[number + 2]]
        about: tuple[str, TimeSpan | None, str] = ("", None, "")
        if number != UNALIGNED:
            utterance = reference.utterances[number]
            about = utterance.speaker, utterance.span, utterance.text
        own = tuple(columns[column] for column in indices)
        wrong = tuple(missed.get(number, ())), tuple(false_alarms.get(number, ()))
        between = tuple((int((indices < at).sum()), pause) for at, pause in pauses.get(number, ()))
        rows.append(AlignedUtterance(number, *about, alignment.errors_where(indices), own, *wrong, between))
    return tuple(rows)


def _columns(
    alignment: Alignment, reference: FileWords, hypothesis: FileWords, *, with_spans: bool
) -> list[AlignedColumn]:
    reference_classes, hypothesis_classes = (
        innermost_kinds(side.events, len(side.words)) for side in (reference, hypothesis)
    )
    spans = [word_spans(words) if with_spans else [None] * len(words.words) for words in (reference, hypothesis)]
    return [
        AlignedColumn(
            "" if r == UNALIGNED else reference.surface[r],
            "" if h == UNALIGNED else hypothesis.surface[h],
            _operation(alignment, column),
            None if r == UNALIGNED else reference_classes[r],
            None if h == UNALIGNED else hypothesis_classes[h],
            None if r == UNALIGNED else spans[0][r],
            None if h == UNALIGNED else spans[1][h],
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


class _Places:
    """Where the events of both transcripts belong: the utterance of the reference, and the column of the alignment."""

    def __init__(
        self, alignment: Alignment, reference: FileWords, utterances: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> None:
        self._utterances = utterances
        self._columns = [np.flatnonzero(alignment.pairs[:, side] != UNALIGNED) for side in (0, 1)]
        counts = [len(utterance.events()) for utterance in reference.utterances]
        owners = np.repeat(np.arange(len(counts)), counts).tolist()
        self._owner = {id(event): owner for event, owner in zip(reference.events, owners, strict=True)}
        self._reference = reference

    def classes(self, unmatched: tuple[Sequence[Event], Sequence[Event]]) -> list[dict[int, list[Disfluency]]]:
        """Return the classes of missed events and of those that were not spoken, each by utterance."""
        by_side: list[dict[int, list[Disfluency]]] = [{}, {}]
        for side, events in enumerate(unmatched):
            for event in events:
                by_side[side].setdefault(self._utterance(event, side), []).append(event.kind)
        return by_side

    def pauses(self, unmatched: tuple[Sequence[Event], Sequence[Event]]) -> dict[int, list[tuple[int, AlignedColumn]]]:
        """Return, by utterance, the pauses of the reference and those that were not spoken, each before a column."""
        missed = {id(event) for event in unmatched[0]}
        kind = Disfluency.PAUSE
        by_utterance: dict[int, list[tuple[int, AlignedColumn]]] = {}
        for event in self._reference.events:
            if event.kind is kind:
                other = ("", None) if id(event) in missed else (_PAUSE, kind)
                column = AlignedColumn(_PAUSE, other[0], "p", kind, other[1])
                by_utterance.setdefault(self._utterance(event, 0), []).append((self._column(event, 0), column))
        for event in unmatched[1]:
            if event.kind is kind:
                column = AlignedColumn("", _PAUSE, "p", None, kind)
                by_utterance.setdefault(self._utterance(event, 1), []).append((self._column(event, 1), column))
        return by_utterance

    def _column(self, event: Event, side: int) -> int:
        """Return the column of the event's first word; of a pause, of the word after it."""
        columns = self._columns[side]
        return int(columns[event.start]) if event.start < len(columns) else len(self._utterances)

    def _utterance(self, event: Event, side: int) -> int:
        if side == 0:
            return self._owner[id(event)]
        column = min(self._column(event, side), len(self._utterances) - 1)
        return int(self._utterances[column]) if column >= 0 else UNALIGNED
