"""Sequential long-form decoding as in Whisper: each window starts at the last complete timestamp.

The previous text is the prompt, so that names, spelling and turns continue across the cut. An incomplete segment at the
end of a full window is discarded and decoded again in the next window. Unlike in Whisper, windows start and end with
speech, because a model that gets silence together with a prompt hallucinates words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.partial import WindowResult
from lsa_whisper.timespan import TimeSpan

_MIN_STEP_MS = 1_000  # minimum distance between the starts of two windows
_TAIL_MS = 400  # audio after the last timestamp without words; half of it is the margin around speech


@dataclass(frozen=True)
class SequentialState:
    """How far the recording is decoded, and the previous text; empty where a prompt would do harm."""

    at_ms: int = 0
    previous: str = ""


def sequential_windows(
    speech: Sequence[TimeSpan],
    *,
    context_s: float,
    decode: Callable[[TimeSpan, str], DecodedWindow],
    before: Sequence[WindowResult] = (),
) -> Iterator[WindowResult]:
    """Yield each window with its decoded text, starting after ``before``.

    ``speech`` is without long silence, from :func:`~lsa_whisper.audio.speech_windows.speech_spans`. ``decode`` takes a
    span and the previous text as prompt; ``before`` are windows that an earlier, interrupted run decoded.
    """
    state = SequentialState()
    for earlier, result in before:
        state = _after(state, earlier, result, speech)
    while span := _next(state.at_ms, speech, context_s):
        result = _complete(span, decode(span, _prompt(state, span)), speech)
        yield span, result
        state = _after(state, span, result, speech)


def _next(at_ms: int, speech: Sequence[TimeSpan], context_s: float) -> TimeSpan | None:
    """Return the window that starts at ``at_ms``, or with the next speech; ``None`` after the last speech."""
    for interval in speech:
        start = max(at_ms, interval.start_ms)
        if interval.end_ms - start > _TAIL_MS or (start == interval.start_ms and start < interval.end_ms):
            return TimeSpan(start, min(interval.end_ms, start + int(context_s * 1000)))
    return None


def _prompt(state: SequentialState, span: TimeSpan) -> str:
    """Return the previous text if the window directly follows it."""
    return state.previous if span.start_ms <= state.at_ms else ""


def _complete(span: TimeSpan, result: DecodedWindow, speech: Sequence[TimeSpan]) -> DecodedWindow:
    """Return the result without a last segment that the end of the window may have cut."""
    ends_with_speech = any(span.end_ms == interval.end_ms for interval in speech)
    segments = result.segments
    if ends_with_speech or len(segments) < 2 or segments[-1].closed or 1000 * segments[-1].start_s < _MIN_STEP_MS:
        return result
    # The next window covers the rest, so a text that the length limit stopped is not lost.
    return replace(result, segments=segments[:-1], complete=True)


def _after(
    state: SequentialState, span: TimeSpan, result: DecodedWindow, speech: Sequence[TimeSpan]
) -> SequentialState:
    at_speech_end = any(span.end_ms == interval.end_ms for interval in speech)
    last_ms = span.start_ms + round(1000 * result.segments[-1].end_s) if result.segments else span.end_ms
    at_ms = span.end_ms if at_speech_end else max(last_ms, span.start_ms + _MIN_STEP_MS)
    # A loop in the prompt is repeated in every following window.
    text = "" if result.retried or not result.complete else result.text
    return SequentialState(min(at_ms, span.end_ms), text or (state.previous if not result.segments else ""))
