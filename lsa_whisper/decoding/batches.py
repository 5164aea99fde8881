"""Which windows are decoded together, and how many.

A batch takes as long as its longest text, and its memory grows with the encoder's input. So windows of one input length
are decoded together, those of similar duration first. Where one batch is decoded at a time, a batch of short inputs has
more windows. An engine with several workers decodes as many batches at the same time, and these have few windows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, pairwise
from typing import Generic, TypeVar

from lsa_whisper.system.machine import GIB, available_memory_gib
from lsa_whisper.system.process import release_freed_memory

WindowT = TypeVar("WindowT", bound=Sized)
OutputT = TypeVar("OutputT")

_MIN_BATCH, _MAX_BATCH = 8, 32
_SHARE = 0.5  # of the free memory
_WINDOW_SHARE = 6  # a window needs at most a sixth of the memory of the weights, and
_WINDOW_BYTES = 100e6  # its logits


class Batches(Generic[WindowT]):
    """The windows of a call, in batches; an iteration gives those of each batch, and frees memory after it.

    >>> batches = Batches(["aa", "aaaa", "a", "aaa"], 2)
    >>> batches.in_order([["+".join(batch)] * len(batch) for batch in batches])
    ['aa+a', 'aaaa+aaa', 'aa+a', 'aaaa+aaa']
    """

    def __init__(
        self,
        windows: Sequence[WindowT],
        batch_size: int,
        input_share: Callable[[WindowT], float] = lambda _: 1.0,
        workers: int = 1,
    ):
        """Divide windows.

        ``batch_size`` windows of the encoder's full context are decoded together, of which it sees ``input_share`` of a
        window. ``workers`` batches are decoded at the same time. They share ``batch_size``, as a number of windows of
        any length: on two cores larger batches were slower in int8, and hardly faster in float32.
        """
        self._windows, self._workers = windows, min(workers, batch_size)

        def most(share: float) -> int:
            return int(batch_size / share) if self._workers == 1 else batch_size // self._workers

        order = sorted(range(len(windows)), key=lambda index: -len(windows[index]))
        batches = [
            batch
            for share, group in groupby(order, lambda index: input_share(windows[index]))
            for batch in even_batches(list(group), most(share))
        ]
        self._batches = one_for_each(self._workers, batches)

    def __iter__(self) -> Iterator[list[WindowT]]:
        for batch in self._batches:
            yield self._windows_of(batch)
            release_freed_memory()

    def _windows_of(self, batch: Sequence[int]) -> list[WindowT]:
        return [self._windows[index] for index in batch]

    def in_order(self, results: Iterable[Sequence[OutputT]]) -> list[OutputT]:
        """Return the results of all windows in the order of the call, from those of each batch."""
        numbered = {
            index: result
            for batch, texts in zip(self._batches, results, strict=True)
            for index, result in zip(batch, texts, strict=True)
        }
        return [numbered[index] for index in range(len(self._windows))]

    def in_threads(self, decode: Callable[[list[WindowT]], Sequence[OutputT]]) -> list[OutputT]:
        """Return the results of all windows in the order of the call; after an error, no further batch is begun."""
        if min(self._workers, len(self._batches)) <= 1:
            return self.in_order(list(map(decode, self)))
        failures: list[BaseException] = []

        def unless_failed(batch: Sequence[int]) -> Sequence[OutputT]:
            if failures:
                raise failures[0]
            try:
                return decode(self._windows_of(batch))
            except BaseException as error:
                failures.append(error)
                raise

        results = []
        pool = ThreadPoolExecutor(min(self._workers, len(self._batches)))
        try:
            for texts in pool.map(unless_failed, self._batches):
                results.append(texts)
                release_freed_memory()
        finally:
            pool.shutdown(cancel_futures=True)
        return self.in_order(results)


def even_batches(indices: Sequence[int], most: int) -> list[Sequence[int]]:
    """Return as few batches as possible, of equal sizes: a batch of one takes almost as long as a full one.

    >>> even_batches(range(9), 8)
    [range(0, 5), range(5, 9)]
    """
    return _divided(indices, -(-len(indices) // most))


def one_for_each(workers: int, batches: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Return the batches, the largest ones divided until each worker has one.

    >>> one_for_each(3, [range(5), range(5, 7)])
    [range(0, 3), range(3, 5), range(5, 7)]
    """
    parts = list(batches)
    while len(parts) < workers and any(len(batch) > 1 for batch in parts):
        largest = max(range(len(parts)), key=lambda index: len(parts[index]))
        parts[largest : largest + 1] = _divided(parts[largest], 2)
    return parts


def _divided(indices: Sequence[int], parts: int) -> list[Sequence[int]]:
    edges = [round(len(indices) * number / parts + 1e-9) for number in range(parts + 1)]
    return [indices[first:last] for first, last in pairwise(edges)]


def default_batch_size(weights_bytes: float, device: str) -> int:
    """Return how many windows to decode together: as many as the machine has cores, or as its free memory holds."""
    if device.startswith("cuda"):
        import torch

        return windows_in_memory(torch.cuda.mem_get_info(device)[0], weights_bytes, most=2 * _MAX_BATCH)
    free_gib = available_memory_gib()
    most = min(max(os.cpu_count() or 1, _MIN_BATCH), _MAX_BATCH)
    return most if free_gib is None else windows_in_memory(free_gib * GIB, weights_bytes, most=most)


def windows_in_memory(free_bytes: float, weights_bytes: float, *, most: int) -> int:
    """Return how many windows half of the free memory holds, from one to ``most``.

    >>> [windows_in_memory(free_bytes, 3e9, most=32) for free_bytes in (20e9, 1e9, 1e12)]
    [16, 1, 32]
    """
    return max(1, min(most, int(_SHARE * free_bytes / (weights_bytes / _WINDOW_SHARE + _WINDOW_BYTES))))
