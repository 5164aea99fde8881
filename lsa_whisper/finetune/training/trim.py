"""Whisper on windows shorter than its context: batches of like length, and an encoder that hears no more than that.

Whisper's encoder marks its states with the first, second ... of a table of positions, whatever follows: a shorter input
takes fewer of them. transformers refuses one because it also serves inference, where Whisper hears silence up to the
end of its context.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from lsa_whisper.library_internals import length_grouped_indices


def hear_any_length(encoder: Any) -> None:
    """Let ``encoder`` take features of any even number of frames up to its whole context.

    Only two numbers change, and only while the encoder runs: how many positions its settings and its table of
    positions say there are. No weight is replaced, so that adapters, checkpointing, DDP and ZeRO find the model they
    know, and what is saved is a plain Whisper.
    """
    whole = encoder.config.max_source_positions
    encoder.register_forward_pre_hook(functools.partial(_shorten, whole), with_kwargs=True)
    encoder.register_forward_hook(functools.partial(_restore, whole), always_call=True)


def _shorten(whole: int, encoder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    features = args[0] if args else kwargs["input_features"]
    positions, odd = divmod(features.shape[-1], encoder.conv1.stride[0] * encoder.conv2.stride[0])
    if not odd and 0 < positions <= whole:  # anything else is left to transformers to refuse
        _set_positions(encoder, positions)


def _restore(whole: int, encoder: Any, args: tuple[Any, ...], output: Any) -> None:
    _set_positions(encoder, whole)


def _set_positions(encoder: Any, positions: int) -> None:
    encoder.config.max_source_positions = encoder.embed_positions.num_embeddings = positions


class LengthGroupedSampler(torch.utils.data.Sampler[int]):
    """Draws windows so that neighbours, which become one batch, are of like length; the groups come in any order.

    The order follows from seed and epoch alone: transformers' own sampler draws from torch's global generator, which
    dropout moves on by another amount in each process once batches differ in length.
    """

    def __init__(self, lengths: Sequence[float], group: int, seed: int):
        """Group ``lengths`` by as many windows as one optimiser step takes, in all processes together."""
        self.lengths, self.group, self.seed = lengths, group, seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Decide the order of the next pass; the trainer calls it, also when it goes on in the midst of one."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        """Yield every window's number once; the first group holds the longest, so that memory fails early if at all."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        indices = length_grouped_indices(self.lengths, self.group, generator)
        groups = [indices[start : start + self.group] for start in range(0, len(indices), self.group)]
        incomplete = [groups.pop()] if len(groups[-1]) < self.group else []  # stays last: batches are cut in order
        order = (1 + torch.randperm(max(0, len(groups) - 1), generator=generator)).tolist()
        for group in [*groups[:1], *(groups[place] for place in order), *incomplete]:
            yield from group
