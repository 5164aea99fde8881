"""Training on windows shorter than Whisper's context: batches of similar length, and an encoder that accepts them.

Whisper's encoder adds position embeddings from the start of a table, so a shorter input uses fewer of them.
transformers rejects shorter inputs because inference always pads to the full context.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from lsa_whisper.library_internals import length_grouped_indices


def accept_shorter_inputs(encoder: Any) -> None:
    """Let ``encoder`` accept features with any even number of frames up to its full context.

    Only two numbers change, and only while the encoder runs: the number of positions in its config and in its position
    embedding. No weight is replaced, so adapters, activation checkpointing, DDP and ZeRO see an unchanged model, and
    the saved checkpoint is a plain Whisper model.
    """
    full = encoder.config.max_source_positions
    encoder.register_forward_pre_hook(functools.partial(_shorten, full), with_kwargs=True)
    encoder.register_forward_hook(functools.partial(_restore, full), always_call=True)


def _shorten(full: int, encoder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    features = args[0] if args else kwargs["input_features"]
    positions, odd = divmod(features.shape[-1], encoder.conv1.stride[0] * encoder.conv2.stride[0])
    if not odd and 0 < positions <= full:  # transformers rejects anything else
        _set_positions(encoder, positions)


def _restore(full: int, encoder: Any, args: tuple[Any, ...], output: Any) -> None:
    _set_positions(encoder, full)


def _set_positions(encoder: Any, positions: int) -> None:
    encoder.config.max_source_positions = encoder.embed_positions.num_embeddings = positions


class LengthGroupedSampler(torch.utils.data.Sampler[int]):
    """Samples windows so that neighbors, which form a batch, have similar lengths; the groups come in random order.

    The order depends on seed and epoch only. transformers' own sampler draws from torch's global generator, whose state
    dropout advances differently on each rank once batches differ in length.
    """

    def __init__(self, lengths: Sequence[float], group: int, seed: int, *, with_epoch: bool = False):
        """Group windows by length.

        Args:
            lengths: Length of each window.
            group: Windows in an optimizer step, over all ranks.
            seed: Of the order.
            with_epoch: Add ``epoch * len(lengths)`` to each index.
        """
        self.lengths, self.group, self.seed, self.with_epoch = lengths, group, seed, with_epoch
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which determines the order; the trainer also calls this when it resumes within an epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        """Yield the index of every window; the group with the longest one comes first, to run out of memory early."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        indices = length_grouped_indices(self.lengths, self.group, generator)
        groups = [indices[start : start + self.group] for start in range(0, len(indices), self.group)]
        incomplete = [groups.pop()] if len(groups[-1]) < self.group else []  # stays last: batches are cut in order
        order = (1 + torch.randperm(max(0, len(groups) - 1), generator=generator)).tolist()
        begin = self.epoch * len(self.lengths) if self.with_epoch else 0
        for group in [*groups[:1], *(groups[place] for place in order), *incomplete]:
            yield from (begin + index for index in group)


class ShuffledSampler(torch.utils.data.Sampler[int]):
    """Samples windows in random order; each index is that of the window plus ``epoch * windows``.

    The order is that of accelerate's own sampler for the same seed and epoch.
    """

    def __init__(self, windows: int, seed: int):
        """Sample ``windows`` windows in an order that depends on ``seed`` and the epoch."""
        self.windows, self.seed, self.epoch = windows, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch; the trainer also calls this when it resumes within an epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.windows

    def __iter__(self) -> Iterator[int]:
        """Yield the index of every window."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        begin = self.epoch * self.windows
        yield from (begin + index for index in torch.randperm(self.windows, generator=generator).tolist())
