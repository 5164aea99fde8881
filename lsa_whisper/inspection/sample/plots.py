"""Figures of transcripts: who speaks when, with every disfluency, and measures over the sessions of one child.

A timeline has a row for each speaker, and one for each class of the speaker's disfluencies. A trend has a line for each
child, by age or by the order of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan

from lsa_whisper.chat import Disfluency, Event, Transcript, Utterance
from lsa_whisper.inspection.measure_names import measure_cell, measure_name
from lsa_whisper.inspection.sample.files import SampleFile, SampleSpeaker
from lsa_whisper.page.figures import Plot, PlotBox, PlotCurve, PlotMark
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
    for number, utterance in enumerate(transcript.utterances):
        times = spoken_times(utterance)
        for event in utterance.events():
            words = " ".join(utterance.reading.verbatim[event.start : event.end])
            yield TimedEvent(utterance.speaker, event.kind, words, number, _start_s(utterance, event, times))


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
    timed = any(utterance.span for utterance in file.transcript.utterances)
    events = list(timed_events(file.transcript))
    most = sorted(file.speakers, key=lambda speaker: -speaker.measures.sample.total_words)[:_MAX_SPEAKERS]
    codes = [speaker.code for speaker in file.speakers if speaker in most]
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
    for code, own in groupby(enumerate(utterances), key=lambda pair: pair[1].speaker):
        turn = list(own)
        spans = [
            (utterance.span.start_ms / 1000, utterance.span.end_ms / 1000) for _, utterance in turn if utterance.span
        ]
        if not timed:
            yield code, turn[0][0] + 1.0, turn[-1][0] + 2.0
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


MAX_PERSONS = 8
_MEASURES = ("mlu_words", "ndw_100", "mattr", "maze_share", "sld_per_100_words", "td_per_100_words", "words_per_minute")
_LEARNERS = frozenset({"Target_Child", "Child", "Participant", "Target_Adult", "Student", "Patient"})


@dataclass(frozen=True)
class _Visit:
    file: str
    speaker: SampleSpeaker


def trend_plots(files: Sequence[SampleFile]) -> list[Plot]:
    """Return a figure for each measure over the sessions of those who are in several files; none without them.

    Those are the children or clients (by role) if any of them is in several files, else all speakers. The x axis is the
    age in ``@ID`` if all have one that differs between sessions, else the number of the session in order of files.
    """
    visits = _visits(files)
    if not visits:
        return []
    by_age = all(
        None not in (ages := [visit.speaker.age_years for visit in own]) and len(set(ages)) == len(ages)
        for own in visits.values()
    )
    return [plot for name in _MEASURES if (plot := _plot(name, visits, by_age=by_age)).curves]


def _visits(files: Sequence[SampleFile]) -> dict[str, list[_Visit]]:
    """Return the sessions of each person who is in several files."""
    by_person: dict[str, list[_Visit]] = {}
    for file in files:
        for speaker in file.speakers:
            by_person.setdefault(f"{speaker.person} {speaker.code}", []).append(_Visit(file.name, speaker))
    several = {who: own for who, own in by_person.items() if len({visit.file for visit in own}) > 1}
    learners = {who: own for who, own in several.items() if own[0].speaker.role in _LEARNERS}
    return dict(list((learners or several).items())[:MAX_PERSONS])


def _plot(name: str, visits: Mapping[str, Sequence[_Visit]], *, by_age: bool) -> Plot:
    curves, marks = [], []
    for series, (who, own) in enumerate(visits.items()):
        points = _points(name, own, by_age=by_age)
        if len(points) > 1:
            curves.append(PlotCurve(tuple((x, y) for x, y, _ in points), series, who))
            marks += [PlotMark(x, y, x, x, series, f"{who}, {text}") for x, y, text in points]
    x_values = [mark.x for mark in marks] or [0.0]
    margin = 0.05 * (max(x_values) - min(x_values)) or 0.5
    return Plot(
        measure_name(name),
        tuple(visits),
        tuple(marks),
        (min(x_values) - margin, max(x_values) + margin),
        (0.0, 1.1 * max((mark.y for mark in marks), default=0.0) or 1.0),
        gettext("age (years;months)") if by_age else gettext("session, in order of files"),
        measure_name(name) + (gettext(" (percent)") if name.endswith("_share") else ""),
        curves=tuple(curves),
        x_unit="age" if by_age else "count",
    )


def _points(name: str, visits: Sequence[_Visit], *, by_age: bool) -> list[tuple[float, float, str]]:
    """Return x, value and text of the sessions in which the measure has a value, in order of x."""
    points = []
    for number, visit in enumerate(visits, 1):
        measures = visit.speaker.measures.as_dict()
        x = visit.speaker.age_years if by_age else float(number)
        if isinstance(measures[name], int | float) and x is not None:
            value = measures[name] * (100 if name.endswith("_share") else 1)
            age = gettext(" at {age}").format(age=visit.speaker.age) if visit.speaker.age else ""
            points.append((x, float(value), f"{visit.file}{age}: {measure_cell(measures, name)}"))
    return sorted(points)
