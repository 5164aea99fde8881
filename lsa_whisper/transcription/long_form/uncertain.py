"""Decode a window again in two halves where the model is uncertain of its text.

A low mean log-probability is Whisper's sign of a window that failed, most often a long one with several speakers or
quick, unclear speech, in which the model jumps over sentences. Whisper's own program decodes such a window again by
sampling. Here it is decoded again in halves, cut at the quietest point: each half has less to go wrong, and without
sampling the same recording always gives the same transcript. The halves are kept only if the model is surer of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedWindow, Decoder
from lsa_whisper.transcription.long_form.halves import join_windows, quietest_sample, split_speech
from lsa_whisper.transcription.long_form.remainders import decode_with_remainders
from lsa_whisper.transcription.long_form.repetition import SpeechIntervals

_MIN_DURATION_S = 4.0
"""A shorter window is not cut: its halves would hold a few words without their context."""


class DecodeBatch(Protocol):
    """Decodes windows and mends their texts: :func:`decode_uncertain_again`, or what does more."""

    def __call__(
        self,
        decoder: Decoder,
        windows: Sequence[npt.NDArray[np.float32]],
        rate_hz: int,
        *,
        speech: Sequence[SpeechIntervals],
    ) -> list[DecodedWindow]:
        """Return one result per window."""
        ...


def decode_uncertain_again(
    decoder: Decoder,
    windows: Sequence[npt.NDArray[np.float32]],
    rate_hz: int,
    *,
    speech: Sequence[SpeechIntervals],
) -> list[DecodedWindow]:
    """Return the decoded windows with their rests; uncertain ones from their halves if these are more probable.

    Args:
        decoder: any engine.
        windows: float32 mono samples.
        rate_hz: their sample rate.
        speech: speech intervals of each window.
    """
    results = decode_with_remainders(decoder, windows, rate_hz, speech=speech)
    cuts = {
        at: quietest_sample(windows[at], rate_hz)
        for at, result in enumerate(results)
        if is_uncertain(result, len(windows[at]) / rate_hz)
    }
    halves = [half for at, cut in cuts.items() for half in np.split(windows[at], [cut])]
    heard = [part for at, cut in cuts.items() for part in split_speech(speech[at], cut / rate_hz)]
    decoded = decode_with_remainders(decoder, halves, rate_hz, speech=heard) if halves else []
    for (at, cut), first, second in zip(cuts.items(), decoded[::2], decoded[1::2], strict=True):
        joined = join_windows(first, second, cut / rate_hz)
        one_language = first.language == second.language == results[at].language
        if joined.segments and joined.avg_logprob > results[at].avg_logprob and one_language:
            results[at] = joined
    return results


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
