"""``TimeSpan``: whole milliseconds, as CHAT bullets are written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True, slots=True)
class TimeSpan:
    """A half-open stretch of a recording, ``[start_ms, end_ms)``, in whole milliseconds.

    >>> TimeSpan(1059, 7541).duration_ms
    6482
    >>> TimeSpan(0, 10) & TimeSpan(5, 20)
    TimeSpan(start_ms=5, end_ms=10)
    """

    start_ms: int
    end_ms: int

    @property
    def duration_ms(self) -> int:
        """The length in milliseconds; not positive when the span is empty or reversed."""
        return self.end_ms - self.start_ms

    def __and__(self, other: TimeSpan) -> TimeSpan | None:
        """Return the part both spans share, or ``None`` when they share nothing."""
        start, end = max(self.start_ms, other.start_ms), min(self.end_ms, other.end_ms)
        return TimeSpan(start, end) if start < end else None

    def __or__(self, other: TimeSpan) -> TimeSpan:
        """Return the shortest span that covers both."""
        return TimeSpan(min(self.start_ms, other.start_ms), max(self.end_ms, other.end_ms))

    def shift(self, by_ms: int) -> TimeSpan:
        """Return the span moved by ``by_ms`` milliseconds."""
        return TimeSpan(self.start_ms + by_ms, self.end_ms + by_ms)
