"""Remove repetition loops of the model and keep repetitions of the speaker.

"I I I I want" takes a speaker one second. A model in a loop writes forty copies into the same second, continues until
the length limit, or repeats its sentence where there is no speech. So four or more copies (see ``repetition``) count as
a loop only on such evidence. Then the window is decoded again in halves, cut at the quietest point, and a half that
still loops is halved again. A loop rarely survives a different cut, and without sampling the same recording always
gives the same transcript. If a loop remains, the copies that do not fit into the sound are removed: those that would
take longer than the speech, or have more words than the sound has syllables. Three are left where it has far more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from lsa_whisper.audio.speech_energy import FRAME_S, find_speech
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.transcription.long_form.repair import Accepted, Parts, Sound, WindowPart, halves, join_halves
from lsa_whisper.transcription.long_form.repetition import (
    SpeechIntervals,
    copies_note,
    find_copies,
    find_loops,
    is_degenerate,
    min_speaking_s,
    repeated_segments,
    speech_s,
)

_DIP_DB = 2.0  # between the peaks of two syllables
_SYLLABLE_RANGE_DB = 25.0  # quieter peaks are noise
_SYLLABLE_FRAMES = 4
_COLLAPSED = 2
"""A loop with more than this many times the copies that fit into its sound has lost the sound, whose syllables are then
those of other words: a model of eight minutes of training wrote "where" 162 times over a sentence of five seconds, and
22 copies of that unspoken word would fit into it."""
_UNDOUBTED = 3  # one fewer than a run that is examined at all
_MIN_WINDOW_S = 1.0  # halves of a shorter window would contain no complete word


def find_looping(result: DecodedWindow, sound: Sound) -> Sequence[WindowPart]:
    """Return the halves of a window with a loop."""
    return halves(sound) if has_loop(result, sound.speech) else ()


def accept_looping(_: DecodedWindow, sound: Sound, parts: Parts[WindowPart]) -> Accepted[WindowPart]:
    """Return the text of the halves, without the copies of a loop that remains."""
    whole = join_halves(parts)
    shortened = truncate_loops(whole, sound.speech, partial(count_syllables, sound.samples, sound.rate_hz))
    return replace(shortened, retried=True, truncated=shortened.segments != whole.segments), ()


def find_in_half(result: DecodedWindow, sound: Sound) -> Sequence[WindowPart]:
    """Return the halves of a half that still loops, if they may contain a complete word."""
    return find_looping(result, sound) if sound.duration_s > _MIN_WINDOW_S else ()


def accept_halves(_: DecodedWindow, __: Sound, parts: Parts[WindowPart]) -> Accepted[WindowPart]:
    """Return the text of the halves as it is; copies are removed from the whole window."""
    return join_halves(parts), ()


def has_loop(result: DecodedWindow, speech: SpeechIntervals | None = None) -> bool:
    """Return whether a window contains a repetition loop: too fast to be spoken, without end, or degenerate.

    >>> has_loop(DecodedWindow((DecodedSegment("I [/] I [/] I [/] I [/] I [/] I want .", 0.0, 1.5),)))
    False
    >>> has_loop(DecodedWindow((DecodedSegment("look to look to look to look to look to look to .", 0.0, 0.8),)))
    True
    """
    within = any(find_loops(segment, result, speech) or is_degenerate(segment) for segment in result.segments)
    return within or bool(repeated_segments(result, speech))


def truncate_loops(
    result: DecodedWindow,
    speech: SpeechIntervals | None = None,
    syllables: Callable[[float, float], int] | None = None,
) -> DecodedWindow:
    """Return the window with each loop reduced to the copies that fit into its sound, at least one, or to three.

    Args:
        result: A window with loops.
        speech: Its speech intervals.
        syllables: Start and end in seconds -> how many syllables the sound has there, see :func:`count_syllables`.

    >>> looping = DecodedWindow((DecodedSegment("look to look to look to look to look to look to .", 0.0, 0.8),))
    >>> short = truncate_loops(looping)
    >>> short.segments[0].text, short.removed
    ('look to look to look to .', ('3 times "look to"',))
    """
    silent = set(repeated_segments(result, speech))
    segments, notes = [], []
    for at, segment in enumerate(result.segments):
        if at in silent:
            notes.append(copies_note(1, _words(segment.text)))
            continue
        for run, rate in _surplus_runs(segment, result, speech):
            copy = run[1]
            copies = int(speech_s(segment, speech) / (min_speaking_s(copy) / rate))
            if syllables:
                copies = min(copies, syllables(segment.start_s, segment.end_s) // max(1, len(_words(copy).split())))
            if len(run[0]) > _COLLAPSED * copies * len(copy):
                copies = min(copies, _UNDOUBTED)
            kept = (copy * max(1, copies))[: run.end() - run.start()]
            if surplus := round((run.end() - run.start() - len(kept)) / len(copy)):
                notes.append(copies_note(surplus, _words(copy)))
            # Token times and log-probabilities are dropped: those of a loop are meaningless.
            text = segment.text[: run.start()] + kept + segment.text[run.end() :]
            segment = replace(segment, text=text, timed=(), logprobs=())
        segments.append(segment)
    return replace(result, segments=tuple(segments), removed=tuple(notes))


def _surplus_runs(
    segment: DecodedSegment, result: DecodedWindow, speech: SpeechIntervals | None
) -> list[tuple[re.Match[str], float]]:
    """Return the runs of copies to shorten, the last one first, with the share of the fastest rate that they may have.

    A segment that is degenerate is so at more than half of that rate, or at any rate by its probability. Where a part
    of the window loops, copies in the others are limited, too: a loop does not end with a segment.
    """
    if runs := find_loops(segment, result, speech):
        return [(run, 1.0) for run in runs[::-1]]
    if not has_loop(result, speech):
        return []
    return [(run, 0.5 if is_degenerate(segment) else 1.0) for run in find_copies(segment)[::-1]]


def _words(text: str) -> str:
    return " ".join(re.findall(r"[\w'-]+", text))


def count_syllables(window: npt.NDArray[np.float32], rate_hz: int, start_s: float, end_s: float) -> int:
    """Return how many syllables a part of a window has: the peaks of its level, after de Jong and Wempe (2009).

    >>> beats = np.sin(np.arange(32_000) * 0.1) * np.sin(np.arange(32_000) * np.pi / 8_000)
    >>> count_syllables(beats.astype(np.float32), 16_000, 0.0, 2.0)
    4
    """
    from scipy.signal import find_peaks

    level = find_speech([window], rate_hz).level_db
    part = level[int(start_s / FRAME_S) : math.ceil(end_s / FRAME_S)]
    if not len(part):
        return 0
    padded = np.pad(part, 1, constant_values=part.min() - 2 * _DIP_DB)
    loudest = float(part.max())
    peaks, _ = find_peaks(padded, height=loudest - _SYLLABLE_RANGE_DB, prominence=_DIP_DB, distance=_SYLLABLE_FRAMES)
    return len(peaks)
