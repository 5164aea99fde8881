"""When each token was heard: the likeliest way through the decoder's attention to the sound.

Text that is already decoded goes through the decoder once more, which shows where it looks for each token; the text
cannot change by it. The attention of a token is taken as the probability of each frame for it, so that a recording is a
hidden Markov model whose states are the tokens and the gaps before them, and Viterbi's algorithm finds the times.

OpenAI's alignment (dynamic time warping over standardised, median-filtered weights) has no gaps: a pause, or an "um"
that was not written, becomes part of the next word. benchmarks/word_times.py has the figures of both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper.library_internals import eager_attention

_GAP = math.log(0.02 / 1.8)  # a frame is nobody's when a token that looks at 1.8 s evenly would look at it more
_LEAST = 1e-4  # no attention at all is no proof
_NEVER = -1e9

Weights = npt.NDArray[np.float32]


def alignment_heads(model: Any) -> list[tuple[int, int]]:
    """Return the ``(layer, head)`` pairs whose attention follows the sound.

    Those that the checkpoint names; where it names none, all heads of the last half of the decoder's layers.
    """
    named = getattr(model.generation_config, "alignment_heads", None)
    layers, heads = model.config.decoder_layers, model.config.decoder_attention_heads
    if named and all(layer < layers and head < heads for layer, head in named):
        return [(layer, head) for layer, head in named]
    return [(layer, head) for layer in range(layers // 2, layers) for head in range(heads)]


def token_times(
    model: Any, hidden: torch.Tensor, prompt: Sequence[int], tokens: Sequence[int], duration_s: float, step_s: float
) -> list[tuple[float, float]]:
    """Return the seconds at which each token begins and ends; none begins before the one before it has ended.

    Args:
        model: a Whisper model.
        hidden: what its encoder made of the window, ``(1, frames, width)``.
        prompt: what decoding began with.
        tokens: what was decoded, timestamps included and the end of text not.
        duration_s: the length of the sound in the window.
        step_s: the seconds behind one frame of ``hidden``.
    """
    frames = max(1, min(hidden.shape[1], round(duration_s / step_s)))
    weights = cross_attention(model, hidden, prompt, tokens, alignment_heads(model))[:, :, :frames]
    return [
        (min(begin * step_s, duration_s), min(end * step_s, duration_s))
        for begin, end in viterbi_spans(weights.mean(axis=0))
    ]


def cross_attention(
    model: Any, hidden: torch.Tensor, prompt: Sequence[int], tokens: Sequence[int], heads: Sequence[tuple[int, int]]
) -> Weights:
    """Return how much each head looks at each frame to write each token, ``(heads, tokens, frames)``."""
    inputs = torch.tensor([[*prompt, *tokens]], device=hidden.device)
    with eager_attention(model):
        seen = model.model.decoder(
            input_ids=inputs, encoder_hidden_states=hidden, output_attentions=True, use_cache=False
        )
    # A row tells where the model looks to write the NEXT token: that of the first token is the prompt's last.
    first = len(prompt) - 1
    rows = [seen.cross_attentions[layer][0, head, first : first + len(tokens)] for layer, head in heads]
    weights: Weights = torch.stack(rows).float().cpu().numpy()
    return weights


def viterbi_spans(weights: Weights) -> list[tuple[float, float]]:
    """Return the first frame of each token and the one after its last, as Viterbi finds them.

    Args:
        weights: probabilities ``(tokens, frames)``. Tokens without a frame each share frames.

    >>> looks = np.array([[0.8, 0.2, 0, 0, 0, 0], [0, 0, 0, 0, 0.5, 0.5]])
    >>> viterbi_spans(looks)
    [(0.0, 2.0), (4.0, 6.0)]
    """
    tokens, frames = weights.shape
    parts = math.ceil(tokens / frames)
    path = _viterbi(np.repeat(np.log(weights.astype(np.float64) + _LEAST), parts, axis=1))
    found = []
    for token in range(tokens):
        own = np.flatnonzero(path == 2 * token + 1)
        found.append((float(own[0] / parts), float((own[-1] + 1) / parts)))
    return found


def _viterbi(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return the state of each frame: ``2 n`` is the gap before token ``n``, which may be left out, ``2 n + 1`` it."""
    tokens, frames = scores.shape
    emitted = np.full((frames, 2 * tokens + 1), _GAP)
    emitted[:, 1::2] = scores.T
    is_token = np.arange(2 * tokens + 1) % 2 == 1
    best = np.full(2 * tokens + 1, _NEVER)
    best[:2] = emitted[0, :2]
    steps = np.zeros((frames, 2 * tokens + 1), np.int8)  # how many states back the frame before was
    for frame in range(1, frames):
        ways = np.full((3, 2 * tokens + 1), 2 * _NEVER)
        ways[0], ways[1, 1:] = best, best[:-1]
        ways[2, 2:] = np.where(is_token[2:], best[:-2], 2 * _NEVER)
        steps[frame] = ways.argmax(axis=0)
        best = ways.max(axis=0) + emitted[frame]
    path = np.empty(frames, np.intp)
    path[-1] = 2 * tokens if best[-1] > best[-2] else 2 * tokens - 1
    for frame in range(frames - 1, 0, -1):
        path[frame - 1] = path[frame] - steps[frame, path[frame]]
    return path
