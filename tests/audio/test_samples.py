"""Channels that cancel each other are noticed, and one channel can be chosen."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile as sf
from containers import encode

from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError
from lsa_whisper.timespan import TimeSpan


def sound(seed=0):
    """Speech-like noise of 12 s: silent in its first half."""
    noise = 0.1 * np.random.default_rng(seed).standard_normal(16_000 * 12).astype(np.float32)
    noise[: 6 * 16_000] = 0
    return noise


@pytest.fixture(params=["wav", "m4a"])
def opposite(request, tmp_path):
    """A recording whose second channel is the first one, weaker and in opposite phase."""
    both, path = np.stack((sound(), -0.8 * sound()), axis=1), tmp_path / f"a.{request.param}"
    if request.param == "wav":
        sf.write(path, both, 16_000)
        return path
    return encode(path, both, 16_000, bit_rate=128_000)


def power(samples):
    return float(np.square(samples).mean())


def test_channels_in_opposite_phase_do_not_become_silence(opposite):
    recording = Recording.open(opposite)
    assert recording.cancels and recording.channel == 0
    assert power(recording.load()) == pytest.approx(power(sound()), rel=0.3)
    assert power(recording.load(TimeSpan(8000, 9000))) == pytest.approx(0.01, rel=0.3)
    assert power(Recording.open(opposite, channel=1).load()) == pytest.approx(0.64 * power(sound()), rel=0.3)


@pytest.mark.parametrize(
    "second", [sound(), sound(seed=1), np.zeros(16_000 * 12)], ids=["the same", "another speaker", "silent"]
)
def test_other_channels_are_mixed(second, tmp_path):
    sf.write(tmp_path / "a.wav", np.stack((sound(), second), axis=1), 16_000, subtype="FLOAT")
    recording = Recording.open(tmp_path / "a.wav")
    assert recording.channel is None and not recording.cancels
    assert np.allclose(recording.load(), (sound() + second) / 2, atol=1e-6)
    alone = Recording.open(tmp_path / "a.wav", channel=1)
    assert np.allclose(alone.load(), second, atol=1e-6)
    assert np.allclose(np.concatenate(list(alone.stream())), second, atol=1e-6)


def test_a_channel_that_is_not_there_is_one_sentence(tmp_path):
    sf.write(tmp_path / "a.wav", sound(), 16_000)
    assert Recording.open(tmp_path / "a.wav", channel=0).channel == 0
    with pytest.raises(AudioError, match=r"a\.wav: has no channel 2; it has 1"):
        Recording.open(tmp_path / "a.wav", channel=1)
