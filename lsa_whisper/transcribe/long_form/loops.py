"""Repetitions of the speaker stay, loops of the model go: time and evidence tell them apart.

"I I I I want" takes the speaker a second. A model in a loop writes forty copies into the same second, goes on until it
is stopped, or writes its sentence again and again where nobody speaks. So four copies or more (see ``repetition``)
count as a loop only on such evidence, and only then is their window decoded again, in halves cut where it is quietest,
and a half that still loops in halves again: a loop rarely survives other surroundings, and no chance is involved, so
that the same recording gives the same bytes. What still loops after that is cut to the copies there was time for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, Decoder
from lsa_whisper.transcribe.long_form.repetition import (
    SpeechIntervals,
    is_degenerate,
    loops,
    min_speaking_s,
    repeated_segments,
    speech_s,
)
from lsa_whisper.transcribe.speech.energy import find_speech

_HALVINGS = 2
_LEAST_S = 1.0  # a shorter window is not cut again: its halves would hold no whole word


def decode_without_loops(
    decoder: Decoder,
    windows: Sequence[npt.NDArray[np.float32]],
    rate_hz: int,
    *,
    spoken: Sequence[SpeechIntervals] = (),
) -> list[DecodedWindow]:
    """Return what ``decoder`` makes of the windows, those with a loop decoded again in halves.

    Args:
        decoder: any engine.
        windows: float32 mono samples.
        rate_hz: their sample rate.
        spoken: where in each window somebody speaks, in seconds; left out, everywhere.
    """
    results = decoder.decode(windows)
    where = spoken or [None] * len(windows)
    looped = [at for at, (result, speech) in enumerate(zip(results, where, strict=True)) if has_loop(result, speech)]
    chosen = [windows[at] for at in looped]
    again = _in_halves(decoder, chosen, [where[at] for at in looped], rate_hz, _HALVINGS)
    for at, result in zip(looped, again, strict=True):
        shorter = cut_loops(result, where[at])
        results[at] = replace(shorter, looped=True, cut=shorter.segments != result.segments)
    return results


def _in_halves(
    decoder: Decoder,
    windows: Sequence[npt.NDArray[np.float32]],
    where: Sequence[SpeechIntervals | None],
    rate_hz: int,
    halvings: int,
) -> list[DecodedWindow]:
    if not windows:
        return []
    cuts = [_quietest(window, rate_hz) for window in windows]
    halves = [half for window, cut in zip(windows, cuts, strict=True) for half in np.split(window, [cut])]
    parts = [part for speech, cut in zip(where, cuts, strict=True) for part in _parted(speech, cut / rate_hz)]
    results = decoder.decode(halves)
    still = [
        at
        for at, (half, result, speech) in enumerate(zip(halves, results, parts, strict=True))
        if halvings > 1 and len(half) > _LEAST_S * rate_hz and has_loop(result, speech)
    ]
    again = _in_halves(decoder, [halves[at] for at in still], [parts[at] for at in still], rate_hz, halvings - 1)
    for at, result in zip(still, again, strict=True):
        results[at] = result
    return [_joined(results[2 * at], results[2 * at + 1], cut / rate_hz) for at, cut in enumerate(cuts)]


def _parted(spoken: SpeechIntervals | None, cut_s: float) -> list[SpeechIntervals | None]:
    if spoken is None:
        return [None, None]
    before = tuple((start, min(end, cut_s)) for start, end in spoken if start < cut_s)
    after = tuple((max(start - cut_s, 0.0), end - cut_s) for start, end in spoken if end > cut_s)
    return [before, after]


def has_loop(result: DecodedWindow, spoken: SpeechIntervals | None = None) -> bool:
    """Tell whether a window holds a repetition that nobody had the time to say, that did not end, or makes no sense.

    >>> has_loop(DecodedWindow((DecodedSegment("I [/] I [/] I [/] I [/] I [/] I want .", 0.0, 1.5),)))
    False
    >>> has_loop(DecodedWindow((DecodedSegment("look to look to look to look to look to look to .", 0.0, 0.8),)))
    True
    """
    within = any(loops(segment, result, spoken) or is_degenerate(segment) for segment in result.segments)
    return within or bool(repeated_segments(result, spoken))


def cut_loops(result: DecodedWindow, spoken: SpeechIntervals | None = None) -> DecodedWindow:
    """Return the window with each loop cut to the copies there was time for, at least one.

    >>> looped = DecodedWindow((DecodedSegment("look to look to look to look to look to look to .", 0.0, 0.8),))
    >>> cut_loops(looped).segments[0].text
    'look to look to look to .'
    """
    unsaid = set(repeated_segments(result, spoken))
    segments = []
    for at, segment in enumerate(result.segments):
        if at in unsaid:
            continue
        for run in loops(segment, result, spoken)[::-1]:
            copy = run[1]
            copies = max(1, int(speech_s(segment, spoken) / min_speaking_s(copy)))
            kept = (copy * copies)[: run.end() - run.start()]
            # Which token wrote which copy is not asked: the times and log-probabilities of a loop are worth nothing.
            text = segment.text[: run.start()] + kept + segment.text[run.end() :]
            segment = replace(segment, text=text, timed=(), logprobs=())
        segments.append(segment)
    return replace(result, segments=tuple(segments))


def _quietest(window: npt.NDArray[np.float32], rate_hz: int) -> int:
    """Return the sample in the middle half of a window where it is quietest."""
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
