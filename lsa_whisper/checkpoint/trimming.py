"""Encoder inputs shorter than Whisper's context, for models that were trained on them.

Whisper's encoder computes its full context of 30 s however short the sound is. A model that was trained with
``data.trim`` also accepts less. What follows the sound is part of what the encoder hears: without a margin the last
words suffer. The margin depends on the window alone, or the text would depend on the windows that share its batch.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lsa_whisper.checkpoint.whisper_constants import CONTEXT_S, TIMESTAMP_STEP_S
from lsa_whisper.errors import CheckpointError

TRIM_MARGIN_S = 1.0
"""The least silence that the encoder sees after a trimmed window, in training and in decoding."""
_WINDOW_S = 10.0
"""The longest window for a model that was trained with ``data.trim``; see benchmarks/trimming.py."""
_STEP_S, _STEP_ON_CPU_S = 5.0, 1.0
"""A trimmed input is whole steps and a margin. Inputs of one length share batches, which must be large on a GPU."""


def encoder_input_s(duration_s: float, context_s: float, margin_s: float | None, device: str) -> float:
    """Return how many seconds the encoder sees of a window: its sound and a margin, or its whole context.

    ``margin_s`` is ``None`` for a model that was not trained with ``data.trim``.

    >>> [encoder_input_s(duration_s, 30.0, 1.0, "cpu") for duration_s in (0.3, 4.9, 5.1, 10.0, 29.5)]
    [2.0, 6.0, 7.0, 11.0, 30.0]
    >>> [encoder_input_s(duration_s, 30.0, 1.0, "cuda") for duration_s in (0.3, 4.9, 5.1, 10.0, 29.5)]
    [6.0, 6.0, 11.0, 11.0, 30.0]
    >>> encoder_input_s(4.9, 30.0, None, "cpu")
    30.0
    """
    if margin_s is None:
        return context_s
    step_s = _STEP_ON_CPU_S if device.startswith("cpu") else _STEP_S
    input_s = max(1, math.ceil(duration_s / step_s - 1e-6)) * step_s + margin_s
    return min(context_s, math.ceil(input_s / TIMESTAMP_STEP_S - 1e-6) * TIMESTAMP_STEP_S)  # whole positions


def longest_window_s(context_s: float, margin_s: float | None) -> float:
    """Return the longest window to cut recordings into: the context, or what a trimmed encoder does fastest.

    The attention of the encoder grows with the square of its input, and more windows share each step of the decoder.
    """
    return context_s if margin_s is None else min(context_s, _WINDOW_S)


def trim_margin_s(metadata: Mapping[str, Any]) -> float | None:
    """Return the margin that a checkpoint's ``lsa_whisper.json`` names, ``None`` without one.

    Raises:
        CheckpointError: It is not a number of seconds from 0 to 30.

    >>> trim_margin_s({"trim": {"margin_s": 1.0}}), trim_margin_s({})
    (1.0, None)
    """
    if "trim" not in metadata:
        return None
    trim = metadata["trim"]
    margin_s = trim.get("margin_s") if isinstance(trim, dict) else None
    if isinstance(margin_s, bool) or not isinstance(margin_s, int | float) or not 0 <= margin_s <= CONTEXT_S:
        raise CheckpointError(
            f"lsa_whisper.json: trim.margin_s must be from 0 to {CONTEXT_S:g} seconds, not {margin_s!r}; "
            "save the model again"
        )
    return float(margin_s)


def accept_shorter_inputs(encoder: Any) -> None:
    """Let ``encoder`` accept features with any even number of frames up to its full context.

    Whisper's encoder adds position embeddings from the start of a table, so a shorter input uses fewer of them;
    transformers rejects it. Only two numbers change, and only while the encoder runs: the number of positions in its
    config and in its position embedding. No weight is replaced, so adapters, activation checkpointing, DDP and ZeRO see
    an unchanged model, and the saved checkpoint is a plain Whisper model.
    """
    full = encoder.config.max_source_positions
    encoder.register_forward_pre_hook(functools.partial(_shorten, full), with_kwargs=True)
    encoder.register_forward_hook(functools.partial(_restore, full), always_call=True)


@contextmanager
def shorter_input(encoder: Any, features: Any) -> Iterator[None]:
    """Let ``encoder`` accept ``features`` in a block as :func:`accept_shorter_inputs` does, also if it is interrupted.

    torch calls no hook after Ctrl-C. The encoder shares its config with the model, whose context others read meanwhile.
    """
    config, full = encoder.config, encoder.config.max_source_positions
    encoder.config = copy.copy(config)
    try:
        _shorten(full, encoder, (features,), {})
        yield
    finally:
        _set_positions(encoder, full)
        encoder.config = config


def _shorten(full: int, encoder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    features = args[0] if args else kwargs["input_features"]
    positions, odd = divmod(features.shape[-1], encoder.conv1.stride[0] * encoder.conv2.stride[0])
    if not odd and 0 < positions <= full:  # transformers rejects anything else
        _set_positions(encoder, positions)


def _restore(full: int, encoder: Any, args: tuple[Any, ...], output: Any) -> None:
    _set_positions(encoder, full)


def _set_positions(encoder: Any, positions: int) -> None:
    encoder.config.max_source_positions = encoder.embed_positions.num_embeddings = positions
