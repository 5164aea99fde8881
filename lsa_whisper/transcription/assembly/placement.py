"""Where utterances stand in time: bullets that start in order, lie inside the recording and never overlap."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.decoding.word_times import fit_words
from lsa_whisper.timespan import TimeSpan


def place_utterances(drafts: Sequence[Utterance], duration_ms: int) -> list[Utterance]:
    """Return utterances whose bullets start in order, do not overlap within a speaker, and end in the recording.

    Words are always kept; an utterance without room loses its bullet. ``%wor`` moves with its utterance.

    >>> close = [utterance("PAR", "a .", TimeSpan(0, 900)), utterance("PAR", "b .", TimeSpan(800, 1200))]
    >>> [u.span for u in place_utterances(close, 1000)]
    [TimeSpan(start_ms=0, end_ms=900), TimeSpan(start_ms=900, end_ms=1000)]
    """
    spans = _pull_back(_push_on(drafts), drafts, duration_ms)
    return [
        utterance(draft.speaker, draft.text, span, fit_words(draft.word_times, span) if span else None)
        for draft, span in zip(drafts, spans, strict=True)
    ]


def _push_on(drafts: Sequence[Utterance]) -> list[TimeSpan]:
    """Return spans that start no earlier than the previous span, and than the end of the speaker's previous one."""
    spans: list[TimeSpan] = []
    free: dict[str, int] = {}
    latest = 0
    for draft in drafts:
        span = draft.span or TimeSpan(latest, latest)
        start = max(span.start_ms, latest, free.get(draft.speaker, 0))
        spans.append(TimeSpan(start, max(span.end_ms, start + 1)))
        latest, free[draft.speaker] = start, spans[-1].end_ms
    return spans


def _pull_back(spans: Sequence[TimeSpan], drafts: Sequence[Utterance], duration_ms: int) -> list[TimeSpan | None]:
    """Return spans that end inside the recording; earlier ones are shortened in favor of later ones."""
    placed: list[TimeSpan | None] = []
    taken: dict[str, int] = {}
    next_start = duration_ms
    for span, draft in zip(reversed(spans), reversed(drafts), strict=True):
        end = min(span.end_ms, taken.get(draft.speaker, duration_ms))
        start = min(span.start_ms, end - 1, next_start)
        if start < 0:
            placed.append(None)
            continue
        placed.append(TimeSpan(start, end))
        next_start = taken[draft.speaker] = start
    return placed[::-1]
