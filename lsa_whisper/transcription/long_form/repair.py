"""What a repair is: which parts of a window are decoded again, and what becomes of the new text.

Many repairs decode a window in halves, cut at its quietest point, and make one text of the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from lsa_whisper.audio import SAMPLE_RATE_HZ
from lsa_whisper.audio.speech_energy import find_speech
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.transcription.long_form.repetition import SpeechIntervals, cut_speech


@dataclass(frozen=True)
class WindowPart:
    """A part of a window, in seconds from its start; by default up to its end."""

    start_s: float
    end_s: float = math.inf


SpanT = TypeVar("SpanT", bound=WindowPart)
Parts: TypeAlias = Sequence[tuple[SpanT, DecodedWindow]]
"""Spans of a window that were decoded again, with their results."""
Accepted: TypeAlias = tuple[DecodedWindow, Sequence[SpanT]]
"""The window to keep, and the spans that are decoded in the next round."""


@dataclass(frozen=True)
class Sound:
    """What is decoded as one window.

    Attributes:
        samples: float32 mono.
        speech: Its speech intervals; ``None`` if all of it counts as speech.
        rate_hz: Its sample rate.
    """

    samples: npt.NDArray[np.float32]
    speech: SpeechIntervals | None = None
    rate_hz: int = SAMPLE_RATE_HZ

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return len(self.samples) / self.rate_hz

    def part(self, span: WindowPart) -> Sound:
        """Return a part of it, with its speech."""
        last = None if span.end_s == math.inf else round(span.end_s * self.rate_hz)
        speech = None if self.speech is None else cut_speech(self.speech, span.start_s, span.end_s)
        return Sound(self.samples[round(span.start_s * self.rate_hz) : last], speech, self.rate_hz)


@dataclass(frozen=True)
class Repair(Generic[SpanT]):
    """What is decoded again of a window, and what becomes of the new text.

    Attributes:
        find: A decoded window and its sound -> the spans to decode again, in order.
        accept: The same, and the spans with their results -> what becomes of the window.
        repairs: Those that the spans get.
        rounds: How often spans of a window are decoded at most.
    """

    find: Callable[[DecodedWindow, Sound], Sequence[SpanT]]
    accept: Callable[[DecodedWindow, Sound, Parts[SpanT]], Accepted[SpanT]]
    repairs: tuple[Repair[Any], ...] = ()
    rounds: int = 1


def quietest_sample(window: npt.NDArray[np.float32], rate_hz: int) -> int:
    """Return the quietest sample in the middle half of a window.

    >>> tone = np.sin(np.arange(32_000) * 0.1).astype(np.float32)
    >>> tone[12_000:14_000] = 0
    >>> 12_000 <= quietest_sample(tone, 16_000) < 14_000
    True
    """
    level = find_speech([window], rate_hz).level_db
    first, last = len(level) // 4, max(len(level) // 4 + 1, 3 * len(level) // 4)
    frame = first + int(level[first:last].argmin()) if len(level) else 0
    return min(len(window), round(len(window) * frame / max(1, len(level))))


def halves(sound: Sound) -> tuple[WindowPart, WindowPart]:
    """Return the spans before and after the quietest sample in the middle of a window."""
    cut_s = quietest_sample(sound.samples, sound.rate_hz) / sound.rate_hz
    return WindowPart(0.0, cut_s), WindowPart(cut_s)


def join_halves(parts: Parts[WindowPart]) -> DecodedWindow:
    """Return one window with the text of both halves."""
    (_, first), (second_span, second) = parts
    return join_windows(first, second, second_span.start_s)


def join_windows(first: DecodedWindow, second: DecodedWindow, offset_s: float) -> DecodedWindow:
    """Return one window with the text of two, of which the second begins ``offset_s`` after the first."""
    return replace(
        first,
        segments=(*first.segments, *(segment.shifted(offset_s) for segment in second.segments)),
        avg_logprob=mean_logprob(first, second),
        tokens=first.tokens + second.tokens,
        complete=first.complete and second.complete,
        retried=first.retried or second.retried,
        truncated=first.truncated or second.truncated,
        removed=(*first.removed, *second.removed),
        no_speech_prob=min(first.no_speech_prob, second.no_speech_prob),
        silent=first.silent and second.silent,
    )


def mean_logprob(first: DecodedWindow, second: DecodedWindow) -> float:
    """Return the mean log-probability of the tokens of two windows.

    >>> mean_logprob(DecodedWindow((), -0.5, tokens=3), DecodedWindow((), -1.5, tokens=1))
    -0.75
    """
    weights = [max(1, window.tokens) for window in (first, second)]
    return (weights[0] * first.avg_logprob + weights[1] * second.avg_logprob) / sum(weights)
