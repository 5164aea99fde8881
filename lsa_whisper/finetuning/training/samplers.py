"""The order of training windows: at random, by corpus, or in batches of similar length for ``data.trim``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper.dataset import StepIndex, WindowDataset
from lsa_whisper.errors import ManifestError
from lsa_whisper.finetuning.recipe import CorpusSettings
from lsa_whisper.system.library_internals import length_grouped_indices


class EpochSampler(torch.utils.data.Sampler[int]):
    """Samples windows in an order that depends on seed and epoch only."""

    def __init__(self, windows: int, seed: int):
        """Sample ``windows`` windows in an order that depends on ``seed`` and the epoch."""
        self.windows, self.seed, self.epoch = windows, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which determines the order; the trainer also calls this when it resumes within an epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.windows


class LengthGroupedSampler(EpochSampler):
    """Samples windows so that neighbors, which form a batch, have similar lengths; the groups come in random order.

    transformers' own sampler draws from torch's global generator, whose state dropout advances differently on each rank
    once batches differ in length.
    """

    def __init__(self, lengths: Sequence[float], group: int, seed: int, *, with_epoch: bool = False):
        """Group windows by length.

        A group has the windows of an optimizer step, over all ranks. With ``with_epoch``, ``epoch * len(lengths)`` is
        added to each index.
        """
        super().__init__(len(lengths), seed)
        self.lengths, self.group, self.with_epoch = lengths, group, with_epoch

    def __iter__(self) -> Iterator[int]:
        """Yield the index of every window; the group with the longest one comes first, to run out of memory early."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        indices = length_grouped_indices(self.lengths, self.group, generator)
        groups = [indices[start : start + self.group] for start in range(0, len(indices), self.group)]
        incomplete = [groups.pop()] if len(groups[-1]) < self.group else []  # stays last: batches are cut in order
        order = (1 + torch.randperm(max(0, len(groups) - 1), generator=generator)).tolist()
        begin = self.epoch * self.windows if self.with_epoch else 0
        for group in [*groups[:1], *(groups[place] for place in order), *incomplete]:
            yield from (begin + index for index in group)


class ShuffledSampler(EpochSampler):
    """Samples windows in random order; each index is that of the window plus ``epoch * windows``.

    The order is that of accelerate's own sampler for the same seed and epoch.
    """

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

    def __init__(self, sampler: EpochSampler, windows: WindowDataset, group: int, *, share: float, seed: int):
        """Add lengths to what ``sampler`` yields.

        It yields the windows of one optimizer step after the other, ``group`` over all ranks. A ``share`` of the steps
        keep the full context although their windows are shorter; ``seed`` selects them together with the windows in
        them, so the choice is the same in every process and after a restart.
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
            number = np.random.default_rng([self.seed, *step]).random()
            longest = max(map(self.windows.frames, step))
            frames = int(self.windows.extractor.nb_max_frames) if number < self.share else longest
            yield from (StepIndex(index, frames) for index in step)


WindowSampler: TypeAlias = EpochSampler | StepLengthSampler


def capped_indices(
    corpora: Sequence[str], durations_s: npt.NDArray[np.float64], settings: Mapping[str, CorpusSettings], seed: int
) -> list[int]:
    """Return the windows that remain when each corpus is cut to its ``max_hours``, in their order.

    The windows of a corpus that is cut are chosen at random, so that all of its sessions remain represented.
    ``settings`` are those of each corpus by name; others are kept as they are.

    Raises:
        ManifestError: If ``settings`` names a corpus that is not in the manifest.
    """
    names = np.asarray(corpora)
    if unknown := sorted(set(settings) - set(corpora)):
        listing = ", ".join(sorted(filter(None, set(corpora)))) or "none with a name"
        raise ManifestError(f"data.corpora: no window is of the corpus {unknown[0]!r}; the manifest has {listing}")
    is_used = np.ones(len(names), bool)
    for place, (name, corpus) in enumerate(sorted(settings.items())):
        if corpus.max_hours is None:
            continue
        order = np.random.default_rng([seed, place]).permutation(np.flatnonzero(names == name))
        is_used[order[np.cumsum(durations_s[order]) > 3600 * corpus.max_hours]] = False
    return [int(index) for index in np.flatnonzero(is_used)]


def draws_per_window(corpora: Sequence[str], settings: Mapping[str, CorpusSettings]) -> npt.NDArray[np.float64]:
    """Return how often each window is drawn in an epoch, on average.

    >>> draws_per_window(["a", "a", "b"], {"b": CorpusSettings(weight=2.5)}).tolist()
    [1.0, 1.0, 2.5]
    """
    return np.array([settings[name].weight if name in settings else 1.0 for name in corpora])


def with_spliced_share(
    weights: npt.NDArray[np.float64], spliced: npt.NDArray[np.bool_], durations_s: npt.NDArray[np.float64], share: float
) -> npt.NDArray[np.float64]:
    """Return the weights with those of spliced windows scaled to ``share`` hours for each hour of recorded speech.

    >>> with_spliced_share(np.ones(4), np.array([False, False, True, True]), np.array([2.0, 2, 8, 8]), 1.0).tolist()
    [1.0, 1.0, 0.25, 0.25]
    """
    hours = weights * durations_s
    scale = share * float(hours[~spliced].sum()) / max(float(hours[spliced].sum()), 1e-9)
    return np.where(spliced, weights * scale, weights)


DrawOrder = Callable[[npt.NDArray[np.int64], int], Iterable[int]]
"""Arranges the windows that were drawn for an epoch."""


class CorpusSampler(EpochSampler):
    """Samples windows in random order, each as often in an epoch as its weight says.

    A weight of 2 draws a window twice in each epoch; one of 0.3 in three of ten epochs, at random. The number of draws
    is the same in every epoch.
    """

    def __init__(self, weights: npt.NDArray[np.float64], seed: int, order: DrawOrder | None = None):
        """Draw window ``n`` about ``weights[n]`` times an epoch; ``order`` arranges the draws of an epoch."""
        super().__init__(max(1, round(float(weights.sum()))), seed)
        self.weights, self.order = weights, order

    def __iter__(self) -> Iterator[int]:
        """Yield the index of every draw, plus ``epoch`` times the number of windows.

        Systematic sampling: points at equal distances on the weights laid end to end, in random order, so that each
        window is drawn its weight rounded down or up.
        """
        rng = np.random.default_rng([self.seed, self.epoch])
        order = rng.permutation(len(self.weights))
        ends = np.cumsum(self.weights[order])
        points = (np.arange(len(self)) + rng.random()) * ends[-1] / len(self)
        indices = rng.permutation(order[np.searchsorted(ends, points, side="right").clip(max=len(order) - 1)])
        begin = self.epoch * len(self.weights)
        ordered = self.order(indices, self.epoch) if self.order else indices
        yield from (begin + int(index) for index in ordered)
