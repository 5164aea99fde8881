"""The path through a window's attention to known text: when each token is heard."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.align.text import TextToken
from lsa_whisper.decoding.cross_attention import Weights
from lsa_whisper.decoding.token_times import constrained_spans


def token_spans(
    weights: Weights, row: Sequence[TextToken], silence: Weights, step_ms: float
) -> list[tuple[float, float]]:
    """Return the start and end of each token in frames.

    Args:
        weights: attention, ``(tokens, frames)``.
        row: the tokens.
        silence: how silent the frames are, from 0 to 1; missing ones are not.
        step_ms: duration of a frame.
    """
    continued = [bool(at) and (row[at - 1].word == each.word or not each.spoken) for at, each in enumerate(row)]
    return constrained_spans(weights, [each.letters for each in row], continued, silence, step_ms)


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
