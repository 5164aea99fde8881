"""Windows for the model: speech packed up to its context, cut in silence, or else at the quietest point.

The encoder computes its whole context however little of it is filled, so short stretches of speech share a window. But
an utterance that is cut is recognized in neither half, and the longer a silence, the more likely an utterance is over.
The windows minimize the total cost of windows and cuts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsa_whisper.audio.speech_energy import FRAME_S, SpeechActivity
from lsa_whisper.timespan import TimeSpan

_MARGIN_S = 0.2  # the first consonant and the last breath are quieter than the threshold
_BRIDGE_S = 3.0  # longer silence is excluded from windows: it contains no words, and models hallucinate some
_WINDOW_COST = 0.2  # relative to 1 for a cut without any silence
_CUT_DECAY_S = 0.1  # a silence this much longer makes a cut e times cheaper


def pack_windows(speech: SpeechActivity, *, context_s: float, duration_s: float) -> list[TimeSpan]:
    """Return the windows of a recording, in order and without overlap; empty without speech.

    None is longer than ``context_s``.

    >>> import numpy as np
    >>> speech = SpeechActivity(np.zeros(2000, np.float32), ((50, 200), (230, 300), (900, 1000)))
    >>> pack_windows(speech, context_s=8.0, duration_s=40.0)
    [TimeSpan(start_ms=800, end_ms=6200), TimeSpan(start_ms=17800, end_ms=20200)]
    """
    longest = max(1, math.floor(context_s / FRAME_S))
    windows = []
    for stretch in _without_long_silence(speech):
        parts = [piece for part in stretch for piece in _split(speech, part, longest)]
        windows += _packed(parts, longest)
    return _spans(windows, duration_s)


def speech_spans(speech: SpeechActivity, *, duration_s: float) -> list[TimeSpan]:
    """Return the stretches of speech without long silence, in order, of any length.

    >>> import numpy as np
    >>> speech = SpeechActivity(np.zeros(2000, np.float32), ((50, 200), (230, 300), (900, 1000)))
    >>> speech_spans(speech, duration_s=40.0)
    [TimeSpan(start_ms=800, end_ms=6200), TimeSpan(start_ms=17800, end_ms=20200)]
    """
    return _spans([(parts[0].start, parts[-1].end) for parts in _without_long_silence(speech)], duration_s)


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of speech with its margins, in frames, and the silence between it and the stretch before."""

    start: int
    end: int
    silence: int


def _margins(regions: Sequence[tuple[int, int]], frames: int) -> list[_Part]:
    """Return the regions with a margin on each side, at most half-way to the neighboring region."""
    margin = round(_MARGIN_S / FRAME_S)
    parts = []
    for index, (start, end) in enumerate(regions):
        before = regions[index - 1][1] if index else None
        after = regions[index + 1][0] if index + 1 < len(regions) else None
        first = max(0, start - margin) if before is None else max(start - margin, (before + start) // 2)
        last = min(frames, end + margin) if after is None else min(end + margin, (end + after) // 2)
        parts.append(_Part(first, last, start - (before or 0)))
    return parts


def _split(speech: SpeechActivity, part: _Part, longest: int) -> list[_Part]:
    """Return a part split into parts no longer than the context, cut where it is quietest."""
    parts = []
    start, silence = part.start, part.silence
    while part.end - start > longest:
        earliest = start + longest // 2
        cut = earliest + int(speech.level_db[earliest : start + longest].argmin())
        parts.append(_Part(start, cut, silence))
        start, silence = cut, 0
    return [*parts, _Part(start, part.end, silence)]


def _spans(frames: Iterable[tuple[int, int]], duration_s: float) -> list[TimeSpan]:
    """Return spans inside the recording, without those that start after its end."""
    end_ms = math.floor(duration_s * 1000)
    spans = (TimeSpan(round(start * FRAME_S * 1000), round(end * FRAME_S * 1000)) for start, end in frames)
    return [inside for span in spans if (inside := span & TimeSpan(0, end_ms))]


def _without_long_silence(speech: SpeechActivity) -> list[list[_Part]]:
    """Return the parts in groups with long silence between the groups."""
    groups: list[list[_Part]] = []
    for part in _margins(speech.regions, len(speech.level_db)):
        if not groups or (part.start - groups[-1][-1].end) * FRAME_S > _BRIDGE_S:
            groups.append([])
        groups[-1].append(part)
    return groups


def _packed(parts: Sequence[_Part], longest: int) -> list[tuple[int, int]]:
    """Return windows that contain all parts, none longer than ``longest``, with the lowest total cost."""
    cheapest = [0.0]  # lowest cost of the windows up to each part
    starts = [0]  # first part of the last of these windows
    for end, last in enumerate(parts):
        costs = []
        for first in range(end, -1, -1):
            if first < end and last.end - parts[first].start > longest:
                break
            cut = math.exp(-parts[first].silence * FRAME_S / _CUT_DECAY_S) if first else 0.0
            costs.append((cheapest[first] + _WINDOW_COST + cut, first))
        cost, first = min(costs)
        cheapest.append(cost)
        starts.append(first)
    windows = []
    end = len(parts)
    while end:
        windows.append((parts[starts[end]].start, parts[end - 1].end))
        end = starts[end]
    return windows[::-1]
