"""Decode a window again in two halves where the model is uncertain of its text.

A low mean log-probability is Whisper's sign of a window that failed, most often a long one with several speakers or
quick, unclear speech, in which the model jumps over sentences. Whisper's own program decodes such a window again by
sampling. Here it is decoded again in halves, cut at the quietest point: each half has less to go wrong, and without
sampling the same recording always gives the same transcript. The halves are kept only if the model is surer of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.transcription.long_form.repair import Accepted, Parts, Sound, WindowPart, halves, join_halves

_MIN_DURATION_S = 4.0
"""A shorter window is not cut: its halves would hold a few words without their context."""


def find_uncertain(result: DecodedWindow, sound: Sound) -> Sequence[WindowPart]:
    """Return the halves of a window whose text is uncertain."""
    return halves(sound) if is_uncertain(result, sound.duration_s) else ()


def accept_uncertain(result: DecodedWindow, _: Sound, parts: Parts[WindowPart]) -> Accepted[WindowPart]:
    """Return the text of the halves if it is more probable, and in the same language."""
    joined = join_halves(parts)
    one_language = {half.language for _, half in parts} == {result.language}
    better = joined.segments and joined.avg_logprob > result.avg_logprob and one_language
    return joined if better else result, ()


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
