import numpy as np
import pytest

from lsa_whisper.scoring import bootstrap
from lsa_whisper.scoring.bootstrap import Interval, Resamples


@pytest.mark.parametrize("units", [4, 6, 10, 40])
def test_the_interval_has_its_nominal_coverage(units):
    generator, covered = np.random.default_rng(7), 0
    for trial in range(300):
        rates = generator.beta(4, 16, size=units)  # true mean 0.2
        errors = generator.binomial(100, rates)
        resamples = Resamples(units, samples=500, seed=trial)
        interval = resamples.interval(resamples.ratios(errors, np.full(units, 100)))
        covered += interval.low <= 0.2 <= interval.high
    assert 0.915 <= covered / 300 <= 0.985  # 95 %, give or take 2.8 standard errors


def test_three_units_have_no_interval():
    resamples = Resamples(3)
    assert resamples.interval(resamples.ratios([1, 2, 3], [10, 10, 10])) is None


def test_paired_differences_are_narrower_than_the_systems_own_spread():
    generator = np.random.default_rng(1)
    words, first = np.full(30, 100), generator.integers(5, 60, size=30)
    second = first + generator.integers(1, 4, size=30)
    resamples = Resamples(30)
    difference = resamples.interval(resamples.ratios(second, words) - resamples.ratios(first, words))
    own = resamples.interval(resamples.ratios(first, words))
    assert difference.excludes_zero and difference.low > 0
    assert difference.high - difference.low < (own.high - own.low) / 5


def weights(resamples):
    return np.concatenate(list(resamples.weights()))


def test_the_weighted_ratio_is_that_of_summed_counts():
    resamples, errors, words = Resamples(2, samples=50), [1, 3], [10, 20]
    expected = {(2, 0): 1 / 10, (0, 2): 3 / 20, (1, 1): 4 / 30}
    drawn = [tuple(row) for row in weights(resamples).tolist()]
    assert set(drawn) == set(expected)
    assert resamples.ratios(errors, words) == pytest.approx([expected[row] for row in drawn])


def test_several_rates_at_once_are_those_of_each_alone():
    generator = np.random.default_rng(3)
    errors, words = generator.integers(0, 9, size=(20, 3)), generator.integers(10, 20, size=(20, 3))
    resamples = Resamples(20, samples=70)
    together = resamples.ratios(errors, words)
    assert together.shape == (70, 3)
    for column in range(3):
        assert (together[:, column] == resamples.ratios(errors[:, column], words[:, column])).all()


def test_undefined_values_are_none():
    for counts in ([], []), ([1], [2]), ([0, 0, 0], [0, 0, 0]):
        resamples = Resamples(len(counts[0]))
        assert resamples.interval(resamples.ratios(*counts)) is None
    assert not Interval(-0.1, 0.1).excludes_zero and not Interval(0, 0.1).excludes_zero
    assert Interval(0.01, 0.1).excludes_zero and Interval(-0.2, -0.1).excludes_zero


def test_the_same_seed_draws_the_same_in_parts_of_any_size(monkeypatch):
    once = weights(Resamples(5, seed=3))
    assert once.shape == (2000, 5) and (once.sum(axis=1) == 5).all()
    monkeypatch.setattr(bootstrap, "_CELLS", 35)
    assert max(map(len, Resamples(5, seed=3).weights())) == 7
    assert (weights(Resamples(5, seed=3)) == once).all()
