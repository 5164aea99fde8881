"""The test of differences by swapping: exact for two systems, its level held over metrics and pairs of systems."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lsa_whisper.scoring.swaps import family_p_values


def test_two_systems_are_swapped_in_every_way():
    generator = np.random.default_rng(5)
    above, below = (
        generator.integers(0, 30, (2, 6, 1)).astype(float),
        generator.integers(50, 90, (2, 6, 1)).astype(float),
    )

    def difference(swapped):
        order = [(bit, 1 - bit) for bit in swapped]
        rates = [
            sum(above[order[u][s], u, 0] for u in range(6)) / sum(below[order[u][s], u, 0] for u in range(6))
            for s in (0, 1)
        ]
        return abs(rates[0] - rates[1])

    every = [difference(bits) for bits in product((0, 1), repeat=6)]
    expected = np.mean([value >= every[0] - 1e-12 for value in every])
    found = family_p_values(above, below, np.ones((1, 1), dtype=bool))
    assert found[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("systems", [2, 3, 4])
def test_equal_systems_are_named_in_at_most_five_percent(systems):
    generator, named = np.random.default_rng(systems), 0
    pairs = systems * (systems - 1) // 2
    for _ in range(150):
        hard = generator.normal(30, 8, (1, 10, 1))
        above = np.clip(hard + generator.normal(0, 4, (systems, 10, 6)), 0, 100)
        found = family_p_values(above, np.full(above.shape, 100.0), np.ones((pairs, 6), dtype=bool))
        named += (found <= 0.05).any()
    assert named / 150 <= 0.09  # 5 %, and twice its standard error


def test_a_difference_of_one_pair_is_found_among_three():
    generator = np.random.default_rng(0)
    above = np.clip(generator.normal(30, 3, (3, 12, 1)), 0, 100)
    above[2] += 12
    found = family_p_values(above, np.full(above.shape, 100.0), np.ones((3, 1), dtype=bool))[:, 0]
    assert found[0] > 0.05 and (found[1:] <= 0.05).all()


def test_what_is_not_tested_has_no_p():
    found = family_p_values(np.ones((2, 6, 2)), np.ones((2, 6, 2)), np.array([[True, False]]))
    assert found[0, 0] == 1 and np.isnan(found[0, 1])
