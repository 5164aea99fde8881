"""The path through a window's attention to known text: when each token is heard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lsa_whisper.align.text import TextToken
from lsa_whisper.decoding.token_times import Weights, viterbi_spans

_SHORTEST = 0.5  # of the usual duration of a letter; attention alone may squeeze a repeated word into one frame
_SHORTEST_LETTER_MS = 40.0  # at most: where much is not transcribed, letters seem to be longer than they are
_LONGEST_MS = 320.0  # a token need not be longer than that, however many letters it has


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
    frames = weights.shape[1]
    silence = np.pad(silence[:frames], (0, frames - len(silence[:frames])))
    continued = [bool(at) and (row[at - 1].word == each.word or not each.spoken) for at, each in enumerate(row)]
    heard_ms = float((1 - silence).sum()) * step_ms
    letter_ms = min(_SHORTEST_LETTER_MS, _SHORTEST * heard_ms / max(1, sum(each.letters for each in row)))
    least = [max(1, round(min(_LONGEST_MS, each.letters * letter_ms) / step_ms)) for each in row]
    return viterbi_spans(weights, silence=silence, continued=continued, least=least)


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
