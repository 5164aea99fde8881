"""Halves of a window that is decoded again: where it is cut, and how its two texts become one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lsa_whisper.audio.speech.energy import find_speech
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.transcription.long_form.repair import Parts, Sound, WindowPart


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
    weights = [max(1, each.tokens) for each in (first, second)]
    return (weights[0] * first.avg_logprob + weights[1] * second.avg_logprob) / sum(weights)
