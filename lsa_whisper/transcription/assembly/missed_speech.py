"""Where speech is heard and too few words are written.

A missed word leaves no trace in a transcript, and has no confidence that could be low. But the detector has found it:
speech that no word covers, or an utterance with far less text than its speech takes at this recording's rate.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from statistics import median

from lsa_whisper.audio.speech.energy import FRAME_S, SpeechActivity
from lsa_whisper.chat import Utterance
from lsa_whisper.timespan import TimeSpan

_MIN_DURATION_MS = 450  # of speech without words: shorter is a breath, or the error of a time
_WIDER_MS = 120  # a word's time misses part of its first and last sound
_SLOW = 1.5  # an utterance may take this many times as long as usual
_SURPLUS_MS = 300  # and this much more


def missed_speech(utterances: Sequence[Utterance], speech: SpeechActivity, duration_ms: int) -> list[TimeSpan]:
    """Return the stretches of speech for which words seem to be missing, in order.

    Args:
        utterances: with their times; word times make the result more exact.
        speech: the result of voice activity detection.
        duration_ms: length of the recording.

    >>> import numpy as np
    >>> from lsa_whisper.chat import utterance
    >>> said = [utterance("PAR", "one two .", TimeSpan(0, 1000)), utterance("PAR", "six .", TimeSpan(4000, 5000))]
    >>> missed_speech(said, SpeechActivity(np.zeros(250, np.float32), ((0, 250),)), 5000)
    [TimeSpan(start_ms=1120, end_ms=3880)]
    """
    whole = TimeSpan(0, duration_ms)
    regions = [span for region in speech.regions if (span := _span(region) & whole)]
    covered = _merged(_covered(utterances))
    bare = [part for span in regions for part in _without(span, covered) if part.duration_ms >= _MIN_DURATION_MS]
    return _merged([*bare, *_sparse(utterances, regions)])


def _span(region: tuple[int, int]) -> TimeSpan:
    return TimeSpan(round(region[0] * FRAME_S * 1000), round(region[1] * FRAME_S * 1000))


def _covered(utterances: Iterable[Utterance]) -> Iterable[TimeSpan]:
    for utterance in utterances:
        spans = [span for span in utterance.word_spans() if span] or ([utterance.span] if utterance.span else [])
        yield from (TimeSpan(max(0, span.start_ms - _WIDER_MS), span.end_ms + _WIDER_MS) for span in spans)


def _overlapping(span: TimeSpan, others: Sequence[TimeSpan]) -> Sequence[TimeSpan]:
    """Return those of the others, which are in order and disjoint, that overlap a span."""
    first = bisect_right(others, span.start_ms, key=lambda each: each.end_ms)
    return others[first : bisect_left(others, span.end_ms, lo=first, key=lambda each: each.start_ms)]


def _without(span: TimeSpan, covered: Sequence[TimeSpan]) -> list[TimeSpan]:
    """Return the parts of a span that none of the others covers, which are in order and disjoint."""
    parts, at_ms = [], span.start_ms
    for each in _overlapping(span, covered):
        if each.start_ms > at_ms:
            parts.append(TimeSpan(at_ms, each.start_ms))
        at_ms = max(at_ms, each.end_ms)
    return parts + ([TimeSpan(at_ms, span.end_ms)] if at_ms < span.end_ms else [])


def _sparse(utterances: Sequence[Utterance], regions: Sequence[TimeSpan]) -> list[TimeSpan]:
    """Return the utterances without word times whose speech is far longer than their letters take here."""
    known = []
    for utterance in utterances:
        if utterance.span and not any(utterance.word_spans()):
            speech_ms = sum(
                shared.duration_ms
                for span in _overlapping(utterance.span, regions)
                if (shared := span & utterance.span)
            )
            known.append((utterance.span, speech_ms, sum(map(len, utterance.verbatim())) + 1))
    if len(known) < 3:  # too few to know the rate
        return []
    usual_ms = median(speech_ms / letters for _, speech_ms, letters in known)
    return [span for span, speech_ms, letters in known if speech_ms > _SLOW * usual_ms * letters + _SURPLUS_MS]


def _merged(spans: Iterable[TimeSpan]) -> list[TimeSpan]:
    merged: list[TimeSpan] = []
    for span in sorted(spans):
        if merged and span.start_ms <= merged[-1].end_ms:
            merged[-1] = TimeSpan(merged[-1].start_ms, max(span.end_ms, merged[-1].end_ms))
        else:
            merged.append(span)
    return merged
