"""Decode the rest of a window in which the model ended its text although people go on speaking.

A model may end the text of a long window after its first sentence, most often after a pause or where another speaker
begins. The last timestamp then lies seconds before the last speech. Whisper's own long-form loop, which faster-whisper
and transformers follow, leaves the rest out; here it is decoded as a window of its own, again and again while words are
found. Of a rest, nothing is kept from the first improbable segment on, or if it is a loop: it may be noise that sounds
like speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.transcription.long_form.repair import Accepted, Parts, Sound, WindowPart, mean_logprob
from lsa_whisper.transcription.long_form.repetition import SpeechIntervals, cut_speech

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
    if not segments or rest.retried:
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
