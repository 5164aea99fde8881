"""Whisper's own way through a recording: each window begins where the last complete timestamp ended.

The text of the window before is the prompt, so that names, spelling and turns go on across the cut. What a full window
leaves unfinished at its end is thrown away and heard again whole in the next one. Unlike Whisper we know where somebody
speaks: a window begins and ends with speech, for a model that is given silence together with a prompt invents words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.long_form.partial import WindowResult

_LEAST_MS = 1_000  # a window moves on by this at least, whatever the stamps say
_TAIL_MS = 400  # sound after the last stamp that holds no word; the margin around speech is half of it


@dataclass(frozen=True)
class SequentialState:
    """How far the recording is done, and the text said last; empty where a prompt would do harm."""

    at_ms: int = 0
    previous: str = ""


def sequential_windows(
    spoken: Sequence[TimeSpan],
    *,
    context_s: float,
    decode: Callable[[TimeSpan, str], DecodedWindow],
    done: Sequence[WindowResult] = (),
) -> Iterator[WindowResult]:
    """Yield each window with what is kept of its text, those after ``done`` only.

    Args:
        spoken: stretches of speech, as :func:`~lsa_whisper.transcribe.speech.windows.speech_spans` gives them.
        context_s: the longest window.
        decode: what the model makes of a span after the text before it.
        done: what an earlier, interrupted run yielded.
    """
    place = SequentialState()
    for span, result in done:
        place = _after(place, span, result, spoken)
    while span := _next(place.at_ms, spoken, context_s):
        result = _complete(span, decode(span, _prompt(place, span)), spoken)
        yield span, result
        place = _after(place, span, result, spoken)


def _next(at_ms: int, spoken: Sequence[TimeSpan], context_s: float) -> TimeSpan | None:
    """Return the window that begins at ``at_ms``, or with the next speech; ``None`` when nobody speaks any more."""
    for stretch in spoken:
        start = max(at_ms, stretch.start_ms)
        if stretch.end_ms - start > _TAIL_MS or (start == stretch.start_ms and start < stretch.end_ms):
            return TimeSpan(start, min(stretch.end_ms, start + int(context_s * 1000)))
    return None


def _prompt(place: SequentialState, span: TimeSpan) -> str:
    """Return the text before, when it was said just before."""
    return place.previous if span.start_ms <= place.at_ms else ""


def _complete(span: TimeSpan, result: DecodedWindow, spoken: Sequence[TimeSpan]) -> DecodedWindow:
    """Return the result without a last segment that the window's end may have cut in two."""
    ends_with_speech = any(span.end_ms == stretch.end_ms for stretch in spoken)
    segments = result.segments
    if ends_with_speech or len(segments) < 2 or segments[-1].closed or 1000 * segments[-1].start_s < _LEAST_MS:
        return result
    # The next window hears the rest again, so that a text which was stopped here is no loss.
    return replace(result, segments=segments[:-1], complete=True)


def _after(
    place: SequentialState, span: TimeSpan, result: DecodedWindow, spoken: Sequence[TimeSpan]
) -> SequentialState:
    """Return how far a window has brought us."""
    stretch_ends = any(span.end_ms == stretch.end_ms for stretch in spoken)
    last_ms = span.start_ms + round(1000 * result.segments[-1].end_s) if result.segments else span.end_ms
    at_ms = span.end_ms if stretch_ends else max(last_ms, span.start_ms + _LEAST_MS)
    # A loop handed on as a prompt is written again in every window after it.
    said = "" if result.looped or not result.complete else " ".join(segment.text for segment in result.segments)
    return SequentialState(min(at_ms, span.end_ms), said or (place.previous if not result.segments else ""))
