import time

import numpy as np
import pytest

from lsa_whisper.evaluate.bootstrap import Interval, Resamples


def test_ten_thousand_resamples_of_a_hundred_files_take_under_a_second():
    start = time.process_time()
    Resamples.draw(100, samples=10_000).interval(np.arange(100), np.full(100, 200))
    assert time.process_time() - start < 1


def test_the_interval_covers_the_true_rate_about_as_often_as_it_says():
    generator, covered = np.random.default_rng(7), 0
    for trial in range(200):
        rates = generator.beta(4, 16, size=40)  # true mean 0.2
        errors = generator.binomial(100, rates)
        interval = Resamples.draw(40, samples=500, seed=trial).interval(errors, np.full(40, 100))
        covered += interval.low <= 0.2 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_paired_differences_are_narrower_than_the_systems_own_spread():
    generator = np.random.default_rng(1)
    words, first = np.full(30, 100), generator.integers(5, 60, size=30)
    second = first + generator.integers(1, 4, size=30)
    resamples = Resamples.draw(30)
    difference = resamples.difference((second, words), (first, words))
    own = resamples.interval(first, words)
    assert difference.excludes_zero and difference.low > 0
    assert difference.high - difference.low < (own.high - own.low) / 5


def test_the_weighted_ratio_is_that_of_summed_counts():
    resamples = Resamples(np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    assert resamples.ratios([1, 3], [10, 20]) == pytest.approx([0.1, 0.15, 4 / 30])


def test_what_cannot_be_said_is_none():
    assert Resamples.draw(0).interval([], []) is None
    assert Resamples.draw(1).interval([1], [2]) is None
    assert Resamples.draw(3).interval([0, 0, 0], [0, 0, 0]) is None
    assert not Interval(-0.1, 0.1).excludes_zero and not Interval(0, 0.1).excludes_zero
    assert Interval(0.01, 0.1).excludes_zero and Interval(-0.2, -0.1).excludes_zero


def test_the_same_seed_draws_the_same():
    assert (Resamples.draw(5, seed=3).weights == Resamples.draw(5, seed=3).weights).all()
    assert (Resamples.draw(5, seed=3).weights.sum(axis=1) == 5).all()
