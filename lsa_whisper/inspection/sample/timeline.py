"""Who speaks when, and where the disfluencies are: a row for each speaker, and one for each class of the speaker's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan

from lsa_whisper.chat import Disfluency, Event, Transcript, Utterance
from lsa_whisper.inspection.sample.files import SampleFile
from lsa_whisper.page.figures import Plot, PlotBox, PlotMark
from lsa_whisper.page.language import gettext
from lsa_whisper.page.terms import class_name
from lsa_whisper.scoring.timing import spoken_times


@dataclass(frozen=True)
class TimedEvent:
    """One disfluency: who, what, the words, where (the utterance's index), and when, if that is known."""

    speaker: str
    kind: Disfluency
    words: str
    utterance: int
    start_s: float | None

    @property
    def name(self) -> str:
        """The name of its class, in the singular.

        >>> TimedEvent("CHI", Disfluency.FRAGMENT, "sto-", 0, None).name
        'cut-off word'
        """
        return class_name(self.kind, 1)


def timed_events(transcript: Transcript) -> Iterator[TimedEvent]:
    """Yield every disfluency, in order, at the time of its first word.

    Times are those of ``%wor``; without it, the utterance's time is divided among its words by their letters.
    """
    for number, each in enumerate(transcript.utterances):
        times = spoken_times(each)
        for event in each.events():
            words = " ".join(each.reading.verbatim[event.start : event.end])
            yield TimedEvent(each.speaker, event.kind, words, number, _start_s(each, event, times))


def _start_s(utterance: Utterance, event: Event, times: list[tuple[float, float]]) -> float | None:
    """Return when an event starts; a pause starts where the word before it ends."""
    if event.start < event.end:
        start_ms = times[event.start][0]
    elif event.start:
        start_ms = times[event.start - 1][1]
    else:
        start_ms = float(utterance.span.start_ms) if utterance.span else float("nan")
    return None if isnan(start_ms) else start_ms / 1000


_MAX_SPEAKERS = 6
_Row = tuple[str, Disfluency | None]


def timeline(file: SampleFile) -> Plot:
    """Return the timeline of a transcript: by time, or by utterance where there are no times."""
    timed = any(each.span for each in file.transcript.utterances)
    events = list(timed_events(file.transcript))
    most = sorted(file.speakers, key=lambda one: -one.measures.sample.total_words)[:_MAX_SPEAKERS]
    codes = [one.code for one in file.speakers if one in most]
    rows = [row for code in codes for row in _rows(code, events)]
    places = {row: number for number, row in enumerate(rows)}
    speaks = gettext("{code} speaks")
    boxes = tuple(
        PlotBox(
            low, high, places[code, None] - 0.3, places[code, None] + 0.3, codes.index(code), speaks.format(code=code)
        )
        for code, low, high in _turns(file.transcript.utterances, timed=timed)
        if (row := places.get((code, None))) is not None
    )
    marks = tuple(
        PlotMark(x, row, x, x, codes.index(event.speaker), f"{event.speaker}, {event.name}: {event.words or '(.)'}")
        for event in events
        if (row := places.get((event.speaker, event.kind))) is not None
        and (x := event.start_s if timed else event.utterance + 1.5) is not None
    )
    return Plot(
        gettext("{file}: who speaks, and disfluencies").format(file=file.name),
        tuple(codes),
        marks,
        (0.0, max((box.high_x for box in boxes), default=1.0)),
        None,
        gettext("minutes and seconds") if timed else gettext("utterance (the transcript has no times)"),
        boxes=boxes,
        rows=tuple(speaks.format(code=code) if kind is None else class_name(kind) for code, kind in rows),
        x_unit="clock" if timed else "count",
        wide=True,
    )


def _rows(code: str, events: Sequence[TimedEvent]) -> Iterator[_Row]:
    yield code, None
    present = {event.kind for event in events if event.speaker == code}
    yield from ((code, kind) for kind in Disfluency if kind in present)


def _turns(utterances: Sequence[Utterance], *, timed: bool) -> Iterator[tuple[str, float, float]]:
    """Yield who speaks from when to when: successive utterances of one speaker that nothing separates are one."""
    for code, own in groupby(enumerate(utterances), key=lambda each: each[1].speaker):
        numbered = list(own)
        spans = [(each.span.start_ms / 1000, each.span.end_ms / 1000) for _, each in numbered if each.span]
        if not timed:
            yield code, numbered[0][0] + 1.0, numbered[-1][0] + 2.0
        elif spans:
            yield from ((code, low, high) for low, high in _joined(spans))


def _joined(spans: Sequence[tuple[float, float]], gap_s: float = 0.5) -> Iterator[tuple[float, float]]:
    """Yield spans, those with less than ``gap_s`` between them as one.

    >>> list(_joined([(0.0, 1.0), (1.2, 2.0), (4.0, 5.0)]))
    [(0.0, 2.0), (4.0, 5.0)]
    """
    start, end = spans[0]
    for low, high in spans[1:]:
        if low - end < gap_s:
            end = max(end, high)
        else:
            yield start, end
            start, end = low, high
    yield start, end
