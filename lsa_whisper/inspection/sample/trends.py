"""Measures over the sessions of one child: a line for each child, by age or by the order of the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsa_whisper.inspection.measure_names import measure_cell, measure_name
from lsa_whisper.inspection.sample.files import SampleFile, SampleSpeaker
from lsa_whisper.page.figures import Plot, PlotCurve, PlotMark
from lsa_whisper.page.language import gettext

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
        None not in (ages := [one.speaker.age_years for one in own]) and len(set(ages)) == len(ages)
        for own in visits.values()
    )
    return [plot for name in _MEASURES if (plot := _plot(name, visits, by_age=by_age)).curves]


def _visits(files: Sequence[SampleFile]) -> dict[str, list[_Visit]]:
    """Return the sessions of each person who is in several files."""
    found: dict[str, list[_Visit]] = {}
    for file in files:
        for speaker in file.speakers:
            found.setdefault(f"{speaker.person} {speaker.code}", []).append(_Visit(file.name, speaker))
    several = {who: own for who, own in found.items() if len({one.file for one in own}) > 1}
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
    found = []
    for number, one in enumerate(visits, 1):
        measures = one.speaker.measures.as_dict()
        x = one.speaker.age_years if by_age else float(number)
        if isinstance(measures[name], int | float) and x is not None:
            value = measures[name] * (100 if name.endswith("_share") else 1)
            age = gettext(" at {age}").format(age=one.speaker.age) if one.speaker.age else ""
            found.append((x, float(value), f"{one.file}{age}: {measure_cell(measures, name)}"))
    return sorted(found)
