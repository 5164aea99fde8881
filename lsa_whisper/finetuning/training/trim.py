"""The order of training windows: batches of similar length for ``data.trim``, or at random."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from lsa_whisper.dataset import StepIndex, WindowDataset
from lsa_whisper.system.library_internals import length_grouped_indices


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


class StepLengthSampler(torch.utils.data.Sampler[int]):
    """Samples as another sampler does, and adds to each index the length of its optimizer step.

    All inputs of a step are cut at the same length. What the encoder sees, and with it the loss, would otherwise depend
    on how the step is split into micro-batches and ranks.
    """

    def __init__(
        self, sampler: torch.utils.data.Sampler[int], windows: WindowDataset, group: int, *, share: float, seed: int
    ):
        """Add lengths to what ``sampler`` yields.

        Args:
            sampler: Yields the windows of one optimizer step after the other.
            windows: The windows.
            group: Windows in an optimizer step, over all ranks.
            share: Share of the steps that keep the full context although their windows are shorter.
            seed: Selects these steps together with the windows in them, so the choice is the same in every process and
                after a restart.
        """
        self.sampler, self.windows, self.group, self.share, self.seed = sampler, windows, group, share, seed

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the sampler within."""
        self.sampler.set_epoch(epoch)

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[int]:
        """Yield every index as a :class:`StepIndex`."""
        indices = iter(self.sampler)
        while step := list(itertools.islice(indices, self.group)):
            drawn = np.random.default_rng([self.seed, *step]).random()
            longest = max(map(self.windows.frames, step))
            frames = int(self.windows.extractor.nb_max_frames) if drawn < self.share else longest
            yield from (StepIndex(index, frames) for index in step)
