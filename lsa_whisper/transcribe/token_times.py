"""When each token was heard: dynamic time warping over the decoder's attention to the sound, by transformers.

The alignment is transformers' own (``_extract_token_timestamps``, behind ``return_token_timestamps``), given the text
that is already decoded: one pass through the decoder shows where it looks, and the text cannot change by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch


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
) -> list[float]:
    """Return the second at which each token begins, and last the one at which the text ends; they never decrease.

    Args:
        model: a Whisper model.
        hidden: what its encoder made of the window, ``(1, frames, width)``.
        prompt: what decoding began with.
        tokens: what was decoded, time stamps included and the end of text not.
        duration_s: the length of the sound in the window.
        step_s: the seconds behind one frame of ``hidden``.
    """
    frames = max(2, min(hidden.shape[1], round(duration_s / step_s)))
    inputs = torch.tensor([[*prompt, *tokens]], device=hidden.device)
    with _attentions_shown(model):
        seen = model.model.decoder(
            input_ids=inputs, encoder_hidden_states=hidden, output_attentions=True, use_cache=False
        )
    # A row tells where the model looks to write the NEXT token: that of the first token is the prompt's last.
    first = len(prompt) - 1
    rows = tuple(layer[:, :, first:, :frames].float() for layer in seen.cross_attentions)
    outputs = _Seen(cross_attentions=(rows,), sequences=inputs)
    times = model._extract_token_timestamps(
        outputs, alignment_heads(model), time_precision=step_s, num_frames=2 * frames, num_input_ids=0
    )
    return [min(at, duration_s) for at in times[0, : len(tokens) + 1].tolist()]


class _Seen(SimpleNamespace):
    """The part of a generation's output that the alignment looks at."""

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__


@contextmanager
def _attentions_shown(model: Any) -> Iterator[None]:
    """Let attention be computed in the one way that shows its weights; decoding keeps the quicker one."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(before)
