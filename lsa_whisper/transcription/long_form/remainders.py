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

import numpy as np
import numpy.typing as npt

from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedWindow, Decoder
from lsa_whisper.transcription.long_form.halves import mean_logprob
from lsa_whisper.transcription.long_form.loops import decode_without_loops
from lsa_whisper.transcription.long_form.repetition import SpeechIntervals

_MIN_SPEECH_S = 2.0
"""Less speech than this after the last timestamp is not decoded again: it holds few words, if any."""
_MAX_RESTS = 8


def decode_with_remainders(
    decoder: Decoder,
    windows: Sequence[npt.NDArray[np.float32]],
    rate_hz: int,
    *,
    speech: Sequence[SpeechIntervals],
) -> list[DecodedWindow]:
    """Return the decoded windows without loops; where speech follows the end of a text, the rest is decoded, too.

    Args:
        decoder: any engine.
        windows: float32 mono samples.
        rate_hz: their sample rate.
        speech: speech intervals of each window.
    """
    results = decode_without_loops(decoder, windows, rate_hz, speech=speech)
    begins = {
        at: begin_s for at, each in enumerate(results) if (begin_s := rest_begins_s(each, speech[at])) is not None
    }
    for _ in range(_MAX_RESTS):
        rests = [windows[at][round(begin_s * rate_hz) :] for at, begin_s in begins.items()]
        heard = [after(speech[at], begin_s) for at, begin_s in begins.items()]
        if not rests:
            break
        decoded = decode_without_loops(decoder, rests, rate_hz, speech=heard)
        following = {}
        for (at, begin_s), rest, intervals in zip(begins.items(), decoded, heard, strict=True):
            kept = tuple(takewhile(lambda segment: segment.avg_logprob >= LOGPROB_THRESHOLD, rest.segments))
            if not kept or rest.retried:
                continue
            results[at] = continued(results[at], replace(rest, segments=kept), begin_s)
            if kept == rest.segments and (further_s := rest_begins_s(rest, intervals)) is not None:
                following[at] = begin_s + further_s
        begins = following
    return results


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
    following_s = sum(end - begin for begin, end in after(speech, end_s))
    return end_s if end_s > 0 and following_s >= _MIN_SPEECH_S else None


def after(speech: SpeechIntervals, begin_s: float) -> list[tuple[float, float]]:
    """Return the speech after a point in time, counted from there.

    >>> after([(0.0, 1.0), (1.5, 4.0)], 2.0)
    [(0.0, 2.0)]
    """
    return [(max(begin - begin_s, 0.0), end - begin_s) for begin, end in speech if end > begin_s]


def continued(result: DecodedWindow, rest: DecodedWindow, begin_s: float) -> DecodedWindow:
    """Return a window with the text of its rest after its own."""
    segments = (*result.segments, *(segment.shifted(begin_s) for segment in rest.segments))
    tokens, mean = result.tokens + rest.tokens, mean_logprob(result, rest)
    return replace(result, segments=segments, avg_logprob=mean, tokens=tokens, complete=rest.complete)
