"""Silent windows with empty text, which train a model not to hallucinate.

Untranscribed audio may still be speech. Silent windows are therefore taken only between the first and the last
utterance, away from all bullets (also of rejected utterances), and where the recording is much quieter than its speech.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from lsa_whisper.preparation.peak_levels import FRAME_MS, PeakLevels
from lsa_whisper.preparation.screening import Candidate
from lsa_whisper.preparation.windows import Window, seeded_rng
from lsa_whisper.timespan import TimeSpan

MIN_DURATION_MS = 2_000
"""Shorter silences are pauses within speech, which windows with words contain."""
GUARD_MS = 500
"""Distance from each bullet, because speech may start before its bullet and end after it."""
QUIET = 0.1
"""Maximum peak of a silent window relative to the median frame peak of accepted speech: -20 dB."""


def non_speech_windows(
    candidates: Sequence[Candidate],
    windows: Sequence[Window],
    levels: PeakLevels,
    *,
    share: float,
    context_ms: int,
    seed: int,
) -> list[Window]:
    """Return silent windows in order of time: ``share`` of all windows, or fewer if silence is scarce."""
    rng = seeded_rng([one for window in windows for one in window.members], seed, "non-speech")
    # Random rounding: with a share of 1 %, a session of ten windows gets a silent window one time in ten.
    count = int(len(windows) * share / (1 - share) + rng.random())
    places = _places(candidates, levels, context_ms) if count else []
    chosen = sorted(rng.sample(places, min(count, len(places))))
    return [Window(_within(place, rng, context_ms), ()) for place in chosen]


def _places(candidates: Sequence[Candidate], levels: PeakLevels, context_ms: int) -> list[TimeSpan]:
    """Return spans without speech, none longer than the context."""
    accepted = [levels.peaks_in(one.span) for one in candidates if one.reason is None]
    loud = levels.peaks > QUIET * np.median(np.concatenate(accepted))
    spans = [one.span for one in candidates]
    for span in (
        TimeSpan(0, min(span.start_ms for span in spans)),
        TimeSpan(max(span.end_ms for span in spans), levels.duration_ms),
        *(TimeSpan(span.start_ms - GUARD_MS, span.end_ms + GUARD_MS) for span in spans),
    ):
        loud[levels.frames(span)] = True
    edges = np.flatnonzero(np.diff(loud, prepend=True, append=True)) * FRAME_MS
    return [
        TimeSpan(start_ms, min(end_ms, start_ms + context_ms))
        for begin_ms, end_ms in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        for start_ms in range(begin_ms, end_ms - min(MIN_DURATION_MS, context_ms) + 1, context_ms)
    ]


def _within(place: TimeSpan, rng: random.Random, context_ms: int) -> TimeSpan:
    """Return a span of random length in ``place``, because a model must expect all lengths."""
    length_ms = rng.randint(min(MIN_DURATION_MS, context_ms), place.duration_ms)
    start_ms = rng.randint(place.start_ms, place.end_ms - length_ms)
    return TimeSpan(start_ms, start_ms + length_ms)
