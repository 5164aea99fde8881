"""The repairs of a window, in order, each with the repairs that its spans get.

``RESTS``: a model may end the text of a long window after its first sentence, most often after a pause or where another
speaker begins. The last timestamp then lies seconds before the last speech. Whisper's own long-form loop, which
faster-whisper and transformers follow, leaves the rest out; here it is decoded as a window of its own, again and again
while words are found. Of a rest, nothing is kept from the first improbable segment on, or if it is a loop in halves,
too: it may be noise that sounds like speech.

``UNCERTAIN``: a low mean log-probability is Whisper's sign of a window that failed, most often a long one with several
speakers or quick, unclear speech, in which the model jumps over sentences. Whisper's own program decodes such a window
again by sampling. Here it is decoded again in halves, cut at the quietest point: each half has less to go wrong, and
without sampling the same recording always gives the same transcript. The halves are kept only if the model is surer of
them.

``PASSAGES`` and ``SKIPPED``: see ``skipped``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.transcription.long_form import loops, skipped
from lsa_whisper.transcription.long_form.repair import (
    Accepted,
    Parts,
    Repair,
    Sound,
    WindowPart,
    halves,
    join_halves,
    mean_logprob,
)
from lsa_whisper.transcription.long_form.repetition import SpeechIntervals, cut_speech

_MIN_DURATION_S = 4.0
"""A shorter window is not cut: its halves would hold a few words without their context."""


def find_uncertain(result: DecodedWindow, sound: Sound) -> Sequence[WindowPart]:
    """Return the halves of a window whose text is uncertain."""
    return halves(sound) if is_uncertain(result, sound.duration_s) else ()


def accept_uncertain(result: DecodedWindow, _: Sound, parts: Parts[WindowPart]) -> Accepted[WindowPart]:
    """Return the text of the halves if it is more probable, and in the same language."""
    whole = join_halves(parts)
    one_language = {half.language for _, half in parts} == {result.language}
    better = whole.segments and whole.avg_logprob > result.avg_logprob and one_language
    return whole if better else result, ()


def is_uncertain(result: DecodedWindow, duration_s: float) -> bool:
    """Return whether a window is to be decoded again: improbable, long enough, and not silent or halved already.

    >>> [is_uncertain(DecodedWindow((), logprob), 20.0) for logprob in (-0.9, -1.1)]
    [False, True]
    """
    return (
        result.avg_logprob < LOGPROB_THRESHOLD
        and duration_s > _MIN_DURATION_S
        and not result.silent
        and not result.retried
    )


MAX_RESTS = 8
"""Rests of a window that are decoded, one after the other."""
_MIN_SPEECH_S = 2.0
"""Less speech than this after the last timestamp is not decoded again: it holds few words, if any."""


def find_rest(result: DecodedWindow, sound: Sound) -> Sequence[WindowPart]:
    """Return the rest of a window whose text ends early."""
    begins_s = rest_begins_s(result, sound.speech or ())
    return () if begins_s is None else (WindowPart(begins_s),)


def accept_rest(result: DecodedWindow, sound: Sound, parts: Parts[WindowPart]) -> Accepted[WindowPart]:
    """Return the window with the text of its rest, and the rest of that."""
    ((span, rest),) = parts
    segments = tuple(takewhile(lambda segment: segment.avg_logprob >= LOGPROB_THRESHOLD, rest.segments))
    if not segments or rest.truncated:
        return result, ()
    longer = continued(result, replace(rest, segments=segments), span.start_s)
    further = find_rest(rest, sound.part(span)) if segments == rest.segments else ()
    return longer, [WindowPart(span.start_s + following.start_s) for following in further]


def rest_begins_s(result: DecodedWindow, speech: SpeechIntervals) -> float | None:
    """Return where the text of a window ends, in seconds, if much speech follows; ``None`` otherwise.

    >>> from lsa_whisper.decoding.decoder import DecodedSegment
    >>> early = DecodedWindow((DecodedSegment("do you want it .", 0.3, 2.4),))
    >>> rest_begins_s(early, [(0.0, 1.0), (1.5, 9.0)]), rest_begins_s(early, [(0.0, 3.0)])
    (2.4, None)
    """
    if not result.complete or not result.segments or not result.segments[-1].closed:
        return None
    end_s = result.segments[-1].end_s
    following_s = sum(end - begin for begin, end in cut_speech(speech, end_s))
    return end_s if end_s > 0 and following_s >= _MIN_SPEECH_S else None


def continued(result: DecodedWindow, rest: DecodedWindow, begin_s: float) -> DecodedWindow:
    """Return a window with the text of its rest after its own."""
    segments = (*result.segments, *(segment.shifted(begin_s) for segment in rest.segments))
    tokens, mean = result.tokens + rest.tokens, mean_logprob(result, rest)
    return replace(result, segments=segments, avg_logprob=mean, tokens=tokens, complete=rest.complete)


_LOOPING_HALVES = Repair(loops.find_in_half, loops.accept_halves)
LOOPS = Repair(loops.find_looping, loops.accept_looping, (_LOOPING_HALVES,))
RESTS = Repair(find_rest, accept_rest, (LOOPS,), rounds=MAX_RESTS)
UNCERTAIN = Repair(find_uncertain, accept_uncertain, (LOOPS, RESTS))
PASSAGES = Repair(skipped.find_passages, skipped.accept_passages, (LOOPS, UNCERTAIN))
SKIPPED = Repair(skipped.find_gaps, skipped.accept_gaps, (LOOPS,))

REPAIRS: tuple[Repair[Any], ...] = (LOOPS, RESTS, UNCERTAIN, PASSAGES, SKIPPED)
"""All of them; ``PASSAGES`` and ``SKIPPED`` need token times. What is decoded across borders gets the same repairs."""
