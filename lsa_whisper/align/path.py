"""The path through a window's attention to known text: when each token is heard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lsa_whisper.align.text import TextToken
from lsa_whisper.decoding.cross_attention import Weights
from lsa_whisper.decoding.token_times import Span, constrained_spans, with_codes


def token_spans(weights: Weights, row: Sequence[TextToken], silence: Weights, step_ms: float) -> list[Span]:
    """Return the start and end of each token in frames; a speaker code takes none.

    Args:
        weights: attention, ``(tokens, frames)``.
        row: the tokens.
        silence: how silent the frames are, from 0 to 1; missing ones are not.
        step_ms: duration of a frame.
    """
    in_code = [each.in_code for each in row]
    kept = [each for each in row if not each.in_code]
    begins = {places[0] for places in spoken_places(kept).values()}
    continued = [at > 0 and at not in begins for at in range(len(kept))]
    heard, letters = np.logical_not(in_code), [each.letters for each in kept]
    spans = constrained_spans(weights[heard], letters, continued, silence, step_ms) if kept else []
    return with_codes(spans, in_code, weights.shape[1])


def spoken_places(row: Sequence[TextToken]) -> dict[int, list[int]]:
    """Return the places of the tokens of each word that are heard.

    >>> spoken_places([TextToken(7, 0, True), TextToken(8, 0, True), TextToken(9, 0, False)])
    {0: [0, 1]}
    """
    found: dict[int, list[int]] = {}
    for at, token in enumerate(row):
        if token.spoken:
            found.setdefault(token.word, []).append(at)
    return found
