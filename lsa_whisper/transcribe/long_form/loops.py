"""Remove repetition loops of the model and keep repetitions of the speaker.

"I I I I want" takes a speaker one second. A model in a loop writes forty copies into the same second, continues until
the length limit, or repeats its sentence where there is no speech. So four or more copies (see ``repetition``) count as
a loop only on such evidence. Then the window is decoded again in halves, cut at the quietest point, and a half that
still loops is halved again. A loop rarely survives a different cut, and without sampling the same recording always
gives the same transcript. If a loop remains, the copies that do not fit into the time are removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, Decoder
from lsa_whisper.speech.energy import find_speech
from lsa_whisper.transcribe.long_form.repetition import (
    SpeechIntervals,
    find_loops,
    is_degenerate,
    min_speaking_s,
    repeated_segments,
    speech_s,
)

_HALVINGS = 2
_MIN_WINDOW_S = 1.0  # halves of a shorter window would contain no complete word


def decode_without_loops(
    decoder: Decoder,
    windows: Sequence[npt.NDArray[np.float32]],
    rate_hz: int,
    *,
    speech: Sequence[SpeechIntervals] = (),
) -> list[DecodedWindow]:
    """Return the decoded windows; those with a loop are decoded again in halves.

    Args:
        decoder: any engine.
        windows: float32 mono samples.
        rate_hz: their sample rate.
        speech: speech intervals of each window; if empty, each window is all speech.
    """
    results = decoder.decode(windows)
    intervals: Sequence[SpeechIntervals | None] = speech or [None] * len(windows)
    looping = [at for at, each in enumerate(zip(results, intervals, strict=True)) if has_loop(*each)]
    chosen = [windows[at] for at in looping]
    halved = _decode_halves(decoder, chosen, [intervals[at] for at in looping], rate_hz, _HALVINGS)
    for at, result in zip(looping, halved, strict=True):
        shortened = truncate_loops(result, intervals[at])
        results[at] = replace(shortened, retried=True, truncated=shortened.segments != result.segments)
    return results


def _decode_halves(
    decoder: Decoder,
    windows: Sequence[npt.NDArray[np.float32]],
    speech: Sequence[SpeechIntervals | None],
    rate_hz: int,
    halvings: int,
) -> list[DecodedWindow]:
    if not windows:
        return []
    cuts = [_quietest(window, rate_hz) for window in windows]
    halves = [half for window, cut in zip(windows, cuts, strict=True) for half in np.split(window, [cut])]
    parts = [part for each, cut in zip(speech, cuts, strict=True) for part in _split(each, cut / rate_hz)]
    results = decoder.decode(halves)
    looping = [
        at
        for at, (half, result, part) in enumerate(zip(halves, results, parts, strict=True))
        if halvings > 1 and len(half) > _MIN_WINDOW_S * rate_hz and has_loop(result, part)
    ]
    decoded = _decode_halves(
        decoder, [halves[at] for at in looping], [parts[at] for at in looping], rate_hz, halvings - 1
    )
    for at, result in zip(looping, decoded, strict=True):
        results[at] = result
    return [_joined(results[2 * at], results[2 * at + 1], cut / rate_hz) for at, cut in enumerate(cuts)]


def _split(speech: SpeechIntervals | None, cut_s: float) -> list[SpeechIntervals | None]:
    if speech is None:
        return [None, None]
    before = tuple((start, min(end, cut_s)) for start, end in speech if start < cut_s)
    after = tuple((max(start - cut_s, 0.0), end - cut_s) for start, end in speech if end > cut_s)
    return [before, after]


def has_loop(result: DecodedWindow, speech: SpeechIntervals | None = None) -> bool:
    """Return whether a window contains a repetition loop: too fast to be spoken, without end, or degenerate.

    >>> has_loop(DecodedWindow((DecodedSegment("I [/] I [/] I [/] I [/] I [/] I want .", 0.0, 1.5),)))
    False
    >>> has_loop(DecodedWindow((DecodedSegment("look to look to look to look to look to look to .", 0.0, 0.8),)))
    True
    """
    within = any(find_loops(segment, result, speech) or is_degenerate(segment) for segment in result.segments)
    return within or bool(repeated_segments(result, speech))


def truncate_loops(result: DecodedWindow, speech: SpeechIntervals | None = None) -> DecodedWindow:
    """Return the window with each loop reduced to the copies that fit into its time, at least one.

    >>> looping = DecodedWindow((DecodedSegment("look to look to look to look to look to look to .", 0.0, 0.8),))
    >>> truncate_loops(looping).segments[0].text
    'look to look to look to .'
    """
    silent = set(repeated_segments(result, speech))
    segments = []
    for at, segment in enumerate(result.segments):
        if at in silent:
            continue
        for run in find_loops(segment, result, speech)[::-1]:
            copy = run[1]
            copies = max(1, int(speech_s(segment, speech) / min_speaking_s(copy)))
            kept = (copy * copies)[: run.end() - run.start()]
            # Token times and log-probabilities are dropped: those of a loop are meaningless.
            text = segment.text[: run.start()] + kept + segment.text[run.end() :]
            segment = replace(segment, text=text, timed=(), logprobs=())
        segments.append(segment)
    return replace(result, segments=tuple(segments))


def _quietest(window: npt.NDArray[np.float32], rate_hz: int) -> int:
    """Return the quietest sample in the middle half of a window."""
    level = find_speech([window], rate_hz).level_db
    first, last = len(level) // 4, max(len(level) // 4 + 1, 3 * len(level) // 4)
    frame = first + int(level[first:last].argmin()) if len(level) else 0
    return min(len(window), round(len(window) * frame / max(1, len(level))))


def _joined(first: DecodedWindow, second: DecodedWindow, offset_s: float) -> DecodedWindow:
    shifted = [_shifted(segment, offset_s) for segment in second.segments]
    mean = (first.avg_logprob + second.avg_logprob) / 2
    return DecodedWindow((*first.segments, *shifted), mean, first.complete and second.complete)


def _shifted(segment: DecodedSegment, offset_s: float) -> DecodedSegment:
    timed = tuple(replace(t, start_s=t.start_s + offset_s, end_s=t.end_s + offset_s) for t in segment.timed)
    return replace(segment, start_s=segment.start_s + offset_s, end_s=segment.end_s + offset_s, timed=timed)
