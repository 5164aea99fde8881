from __future__ import annotations

import numpy as np
import pytest

from lsa_whisper.audio.augment import Augmentation

RATE_HZ = 16_000


def tone(hz, seconds=2.0):
    return np.sin(2 * np.pi * hz * np.arange(int(seconds * RATE_HZ)) / RATE_HZ).astype(np.float32)


def pitch(samples):
    return np.argmax(np.abs(np.fft.rfft(samples))) * RATE_HZ / len(samples)


def test_a_faster_speed_is_shorter_and_higher():
    heard, speed = Augmentation(speed_perturbation=0.2).apply(tone(400), 10 * RATE_HZ, np.random.default_rng(1))
    assert speed != 1 and len(heard) == pytest.approx(2 * RATE_HZ / speed, abs=2)
    assert pitch(heard) == pytest.approx(400 * speed, rel=0.01)
    assert heard.dtype == np.float32


def test_a_full_window_is_never_slowed_beyond_the_context():
    speeds = []
    for seed in range(40):
        heard, speed = Augmentation(speed_perturbation=0.3).apply(
            tone(200), 2 * RATE_HZ + 800, np.random.default_rng(seed)
        )
        assert len(heard) <= 2 * RATE_HZ + 800
        speeds.append(speed)
    assert min(speeds) >= 2 * RATE_HZ / (2 * RATE_HZ + 800) and max(speeds) > 1.15


def test_noise_has_the_ratio_that_was_asked_for():
    clean = tone(300)
    heard, speed = Augmentation(noise_snr_db=(10.0, 10.0)).apply(clean, len(clean), np.random.default_rng(0))
    noise = heard - clean
    assert speed == 1 and 10 * np.log10(np.mean(clean**2) / np.mean(noise**2)) == pytest.approx(10, abs=0.2)


def test_nothing_is_changed_unless_asked():
    samples = tone(300)
    heard, speed = Augmentation().apply(samples, len(samples), np.random.default_rng(0))
    assert np.array_equal(heard, samples) and speed == 1
    assert not Augmentation(mask_time_prob=0.1).changes_sound


def test_problems_say_what_to_write():
    wrong = Augmentation(speed_perturbation=0.9, noise_snr_db=(40.0, 10.0), mask_feature_prob=2.0)
    assert [problem.split(":")[0] for problem in wrong.problems()] == [
        "speed_perturbation",
        "noise_snr_db",
        "mask_feature_prob",
    ]
    assert Augmentation(speed_perturbation=0.1, noise_snr_db=(10.0, 30.0), mask_time_prob=0.05).problems() == []
