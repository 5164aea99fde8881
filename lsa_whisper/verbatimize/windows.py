"""Windows over the utterances of a transcript: each with its sound, and the silence around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Utterance
from lsa_whisper.timespan import TimeSpan

_BEFORE_MS = 2000
"""A filler before the first word is often outside the bullet, and most are before an utterance, few behind."""
_AFTER_MS = 300
MAX_OVERLAP_MS = 100
"""Neighbors that overlap by this much are still spoken one after the other: their times are set by hand."""


@dataclass(frozen=True)
class VerbatimWindow:
    """A part of a recording and the numbers of the utterances whose words are in it."""

    span: TimeSpan
    members: tuple[int, ...]


def pack_utterances(
    utterances: Sequence[Utterance], usable: Sequence[bool], *, context_ms: int, duration_ms: int
) -> list[VerbatimWindow]:
    """Return windows over the ``usable`` utterances, none longer than the context, in the order of time.

    Overlapping utterances share a window. The silence between two windows belongs to the later one, up to two seconds.
    No window has the sound of an utterance that is not usable; an utterance that does not fit is in no window.

    >>> from lsa_whisper.chat import utterance
    >>> spoken = [utterance("A", "a .", TimeSpan(start, start + 900)) for start in (500, 2000, 4000)]
    >>> pack_utterances(spoken, [True] * 3, context_ms=3000, duration_ms=9000)
    [VerbatimWindow(span=TimeSpan(start_ms=0, end_ms=3000), members=(0, 1)),
     VerbatimWindow(span=TimeSpan(start_ms=3000, end_ms=5200), members=(2,))]
    """
    whole = TimeSpan(0, duration_ms)
    spans = {at: inside for at, own in enumerate(utterances) if own.span and (inside := own.span & whole)}
    windows: list[VerbatimWindow] = []
    members: list[int] = []
    begin_ms = end_ms = free_ms = 0

    def close(limit_ms: int) -> None:
        nonlocal free_ms
        if members:
            trail_ms = max(0, min(_AFTER_MS, (limit_ms - end_ms) // 2, begin_ms + context_ms - end_ms))
            windows.append(VerbatimWindow(TimeSpan(begin_ms, end_ms + trail_ms), tuple(sorted(members))))
            free_ms = end_ms + trail_ms
            members.clear()

    for group in _overlapping(spans):
        start_ms, stop_ms = min(spans[at].start_ms for at in group), max(spans[at].end_ms for at in group)
        fits = stop_ms - start_ms <= context_ms and all(usable[at] for at in group)
        if not fits or stop_ms > begin_ms + context_ms:
            close(start_ms)
        if not fits:
            free_ms = stop_ms
            continue
        if not members:
            begin_ms = max(free_ms, start_ms - _BEFORE_MS, stop_ms - context_ms)
        members += group
        end_ms = stop_ms
    close(duration_ms)
    return windows


def widened(
    utterances: Sequence[Utterance], window: VerbatimWindow, at: int, *, before: bool, behind: bool
) -> TimeSpan:
    """Return the span of utterance ``at``, with the silence of its window before or behind it.

    The silence ends at the next utterance, and before the first word after two seconds.

    >>> from lsa_whisper.chat import utterance
    >>> spoken = [utterance("A", "a .", TimeSpan(start, start + 900)) for start in (500, 2000)]
    >>> widened(spoken, VerbatimWindow(TimeSpan(0, 3200), (0, 1)), 1, before=True, behind=True)
    TimeSpan(start_ms=1400, end_ms=3200)
    """
    spans, own = [each.span for each in utterances if each.span], utterances[at].span or window.span
    ends = [span.end_ms for span in spans if span.start_ms < own.start_ms]
    starts = [span.start_ms for span in spans if span.start_ms > own.start_ms]
    first_ms = max(window.span.start_ms, own.start_ms - _BEFORE_MS, *ends) if before else own.start_ms
    last_ms = min([window.span.end_ms, *starts]) if behind else own.end_ms
    return TimeSpan(min(own.start_ms, first_ms), max(own.end_ms, last_ms))


def overlapped_utterances(utterances: Sequence[Utterance]) -> list[bool]:
    """Return for each utterance whether another one overlaps it by more than :data:`MAX_OVERLAP_MS`.

    >>> from lsa_whisper.chat import utterance
    >>> spans = [TimeSpan(0, 900), TimeSpan(850, 2000), TimeSpan(1000, 1200)]
    >>> overlapped_utterances([utterance("A", "a .", span) for span in spans])
    [False, True, True]
    """
    overlapped = [False] * len(utterances)
    timed = sorted((span.start_ms, span.end_ms, at) for at, own in enumerate(utterances) if (span := own.span))
    open_spans: list[tuple[int, int]] = []
    for start_ms, end_ms, at in timed:
        open_spans = [(stop_ms, other) for stop_ms, other in open_spans if stop_ms - start_ms > MAX_OVERLAP_MS]
        if end_ms - start_ms > MAX_OVERLAP_MS:
            for _, other in open_spans:
                overlapped[at] = overlapped[other] = True
        open_spans.append((end_ms, at))
    return overlapped


def _overlapping(spans: Mapping[int, TimeSpan]) -> Iterator[list[int]]:
    """Yield the numbers of utterances that overlap, directly or through others, in the order of time."""
    group: list[int] = []
    end_ms = 0
    for start_ms, stop_ms, at in sorted((span.start_ms, span.end_ms, at) for at, span in spans.items()):
        if group and start_ms >= end_ms:
            yield group
            group = []
        group.append(at)
        end_ms = max(end_ms, stop_ms)
    if group:
        yield group
