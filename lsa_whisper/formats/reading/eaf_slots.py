"""ELAN's time slots without a value: ELAN shows them evenly between the known ones, and so they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

_Point = list[str]
"""The slots of one point in time."""


def interpolate_slots(slots: dict[str, int | None], pairs: Sequence[tuple[str, str]]) -> None:
    """Give the slots of one tier that have no value times, evenly spaced between the nearest known ones.

    Before the first and behind the last known slot of the tier, the nearest known slot of the document bounds them;
    without one they stay unknown.

    Args:
        slots: The time of each slot in milliseconds, in the order of the document; changed.
        pairs: The two slots of each annotation of the tier, in order.

    >>> slots = {"a": 1000, "b": None, "c": 3000, "d": None}
    >>> interpolate_slots(slots, [("a", "b"), ("b", "c"), ("c", "d")])
    >>> slots
    {'a': 1000, 'b': 2000, 'c': 3000, 'd': None}
    """
    if all(slots[name] is not None for pair in pairs for name in pair):
        return
    run: list[_Point] = []
    before: int | None = None
    for point in _points(slots, pairs):
        value = slots[point[0]]
        if value is None:
            run.append(point)
        elif run:
            _fill(slots, run, _bound(slots, run[0][0], before, value), value)
            run = []
        before = before if value is None else value
    if run:
        after = next((time for name in _behind(slots, run[-1][-1]) if (time := slots[name]) is not None), None)
        _fill(slots, run, before if after is None else _bound(slots, run[0][0], before, after), after)


def _points(slots: Mapping[str, int | None], pairs: Sequence[tuple[str, str]]) -> list[_Point]:
    """Return the points of a tier; an end and the next start are one point if neither has a value."""
    points: list[_Point] = []
    for start, end in pairs:
        last = points[-1] if points else []
        if start not in last:
            if last and slots[start] is None and slots[last[0]] is None:
                last.append(start)
            else:
                points.append([start])
        points.append([end])
    return points


def _behind(slots: Mapping[str, int | None], last: str) -> Iterator[str]:
    names = iter(slots)
    for name in names:
        if name == last:
            break
    return names


def _bound(slots: Mapping[str, int | None], first: str, before: int | None, after: int) -> int | None:
    """Return the time before a run: that of the tier, else of the last known slot above it in the document."""
    if before is not None:
        return before if before < after else None
    for name, value in slots.items():
        if name == first:
            break
        before = value if value is not None else before
    return before if before is not None and before < after else None


def _fill(slots: dict[str, int | None], run: Sequence[_Point], before: int | None, after: int | None) -> None:
    if before is None or after is None:
        return
    for at, point in enumerate(run, start=1):
        for name in point:
            slots[name] = before + round((after - before) * at / (len(run) + 1))
