"""Whether systems differ: their counts are swapped within recordings, as they could be if the systems were equal.

Conventions:

- In every swap, each unit (person or file) gives its counts to two systems in a random order; what the systems then
  differ by is chance alone. Few units are swapped in all possible ways, otherwise at random.
- The metrics of a family are tested together: a difference counts by how often the largest standardized difference of
  a swap in any metric is as large (maxT of Westfall and Young 1993, "Resampling-based multiple testing").
  Standardized: divided by the standard deviation of that difference over all swaps.
- So are the pairs of systems. Of three systems, a pair differs if it does by itself and if the three are not all equal
  (closed testing; Shaffer 1986, "Modified sequentially rejective multiple test procedures"), by swaps among all three;
  of more, the p values are corrected by Holm's method (1979).
- Where no systems differ, the family names a difference in at most 5 % of all cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.scoring.bootstrap import Floats

SWAPS = 2000
"""The number of random swaps: the standard error of a p of .05 is .005."""
_ALL_UP_TO = 11
"""With so many units or fewer, all 2,048 ways in which two systems can be swapped are taken."""
_CELLS = 1 << 20
_TIE = 1 - 1e-9


def family_p_values(above: Floats, below: Floats, valid: NDArray[np.bool_]) -> Floats:
    """Return the corrected p value of each comparison, shape (pairs, metrics); nan where it is not ``valid``.

    Pairs are in the order of ``itertools.combinations``.

    Args:
        above: Numerators, shape (systems, units, metrics).
        below: Denominators, of the same shape.
        valid: Which comparisons are tested, shape (pairs, metrics).

    >>> errors = np.array([[[1.0]] * 6, [[9.0]] * 6]).reshape(2, 6, 1)
    >>> family_p_values(errors, np.full((2, 6, 1), 10.0), np.ones((1, 1), dtype=bool))
    array([[0.03125]])
    """
    by_pair = np.full(valid.shape, np.nan)
    pairs = list(combinations(range(len(above)), 2))
    for row, pair in enumerate(pairs):
        by_pair[row] = _max_t(above[[*pair]], below[[*pair]], valid[[row]])[0]
    if len(above) == 3 and valid.any():
        joint = _max_t(above, below, valid)
        all_equal = np.where(valid, joint, np.inf).min(axis=0)
        closed: Floats = np.maximum(by_pair, all_equal)
        return closed
    return np.stack([_holm(column) for column in by_pair.T], axis=1)


def _max_t(above: Floats, below: Floats, valid: NDArray[np.bool_]) -> Floats:
    """Return p values that are corrected for all ``valid`` comparisons of these systems."""
    p_values = np.full(valid.shape, np.nan)
    if not valid.any():
        return p_values
    observed = _differences(above.sum(axis=1)[:, None], below.sum(axis=1)[:, None])[:, 0][valid]
    swapped = np.concatenate([block[valid] for block in _swapped(above, below)], axis=-1)
    spread = swapped.std(axis=-1)
    spread[spread == 0] = np.inf  # the same counts however they are swapped
    largest = (np.abs(swapped) / spread[:, None]).max(axis=0)
    p_values[valid] = [(largest >= _TIE * value).mean() for value in np.abs(observed) / spread]
    return p_values


def _holm(p_values: Floats) -> Floats:
    """Return the p values of one metric, corrected for the number of pairs; nan stays.

    >>> _holm(np.array([0.01, 0.03, 0.02, np.nan]))
    array([0.03, 0.04, 0.04,  nan])
    """
    order = np.argsort(p_values)  # nan comes last
    tested = int((~np.isnan(p_values)).sum())
    corrected = np.full(p_values.shape, np.nan)
    ranked = p_values[order[:tested]] * (tested - np.arange(tested))
    corrected[order[:tested]] = np.minimum(1.0, np.maximum.accumulate(ranked))
    return corrected


def _swapped(above: Floats, below: Floats) -> Iterator[Floats]:
    """Yield the differences in blocks of swaps, shape (pairs, metrics, swaps); the first swap changes nothing."""
    systems, units, _ = above.shape
    for orders in _orders(systems, units, np.random.default_rng(0)):
        sums = [np.zeros((systems, len(orders), above.shape[2])) for _ in range(2)]
        for taker in range(systems):
            for giver in range(systems):
                gives = (orders[:, :, taker] == giver).astype(np.float64)
                for total, counts in zip(sums, (above, below), strict=True):
                    total[taker] += gives @ counts[giver]
        yield _differences(*sums).transpose(0, 2, 1)


def _orders(systems: int, units: int, generator: np.random.Generator) -> Iterator[NDArray[np.int8]]:
    """Yield blocks of orders of the systems in each unit, shape (swaps, units, systems); the first changes nothing."""
    same = np.arange(systems, dtype=np.int8)
    if systems == 2 and units <= _ALL_UP_TO:
        bits = (np.arange(1 << units)[:, None] >> np.arange(units)) & 1
        yield np.stack([bits, 1 - bits], axis=-1).astype(np.int8)
        return
    yield np.broadcast_to(same, (1, units, systems))
    at_once = max(1, _CELLS // (units * systems))
    for start in range(0, SWAPS - 1, at_once):
        count = min(at_once, SWAPS - 1 - start)
        yield generator.random((count, units, systems)).argsort(axis=-1).astype(np.int8)


def _differences(above: Floats, below: Floats) -> Floats:
    """Return the rate of the first system of each pair minus that of the second; 0 where one is undefined."""
    rates = np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)
    pairs = [rates[first] - rates[second] for first, second in combinations(range(len(rates)), 2)]
    differences: Floats = np.nan_to_num(np.stack(pairs), nan=0.0)
    return differences
