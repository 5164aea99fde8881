"""What sounds: cuts where it is soft, joins without clicks, the room's noise in every silence."""

import random
from itertools import pairwise

import numpy as np
import pytest

from lsa_whisper.audio import SAMPLE_RATE_HZ
from lsa_whisper.splice.sound import FADE, RoomNoise, cross_fade, hold, match_voice, pitch_hz, quiet_place, rms

AROUND = 16
"""Samples on either side of a join: one millisecond."""


def curvature(samples, places):
    """Return the largest second difference around each place."""
    second = np.abs(np.diff(samples.astype(np.float64), 2))
    return np.array([second[max(0, place - AROUND) : place + AROUND].max() for place in places])


@pytest.mark.slow
def test_no_join_is_sharper_than_natural_speech(spliced):
    """The second difference at a join is large where samples jump: a click."""
    for each in spliced:
        natural = each.recording.load()
        speech = [one.span for one in each.transcript.utterances]
        places = [place for span in speech for place in range(span.start_ms * 16, span.end_ms * 16, 2 * AROUND)]
        limit = np.percentile(curvature(natural, places), 99)
        joins = [join + shift for join in each.speech.joins for shift in range(-FADE // 2, FADE // 2, 2 * AROUND)]
        assert curvature(each.speech.samples, joins).max() <= limit


def test_a_join_without_cross_fade_would_be_found(spliced):
    each = spliced[0]
    natural = each.recording.load()
    limit = np.percentile(curvature(natural, range(16_000, len(natural) - 100, 2 * AROUND)), 99)
    loud = np.argsort(np.abs(natural))[-50:]
    cut = [np.concatenate([natural[place - 100 : place], -natural[place : place + 100]]) for place in loud]
    assert np.mean([curvature(one, [99])[0] > limit for one in cut if len(one) == 200]) > 0.9


def gap_levels(samples, utterances):
    """Return the level of each silence between utterances, without its edges."""
    gaps = [(a.span.end_ms + 100, b.span.start_ms - 100) for a, b in pairwise(utterances)]
    return [rms(samples[start * 16 : end * 16]) for start, end in gaps if end - start > 50]


def test_silences_are_filled_with_the_noise_of_the_room(spliced):
    """Two of these rooms are so quiet that the recording has no noise at all."""
    noisy = 0
    for each in spliced:
        natural = gap_levels(each.recording.load(), each.transcript.utterances)
        levels = gap_levels(each.speech.samples, each.speech.utterances)
        assert min(natural) <= np.median(levels) <= max(natural)
        if np.quantile(natural, 0.1) > 0:
            noisy += 1
            assert min(levels) > 0, "digital silence"
    assert noisy > 3


def test_cross_fade_keeps_the_level_of_equal_sounds():
    tone = np.ones(4 * FADE, np.float32)
    joined, starts = cross_fade([tone, tone, tone])
    assert np.allclose(joined, 1) and starts == [0, 3 * FADE, 6 * FADE] and len(joined) == 10 * FADE


def test_a_cut_is_at_a_zero_crossing():
    wave = np.sin(np.arange(8_000) / 30).astype(np.float32) * np.linspace(1, 0.1, 8_000, dtype=np.float32)
    place = quiet_place(wave, 1_000, 7_000)
    assert place > 6_500 and wave[place - 1] * wave[place] <= 0


def voice(pitch, seconds=0.5):
    at = np.arange(round(SAMPLE_RATE_HZ * seconds)) / SAMPLE_RATE_HZ
    return (
        sum(np.sin(2 * np.pi * pitch * harmonic * at) / harmonic for harmonic in range(1, 9)).astype(np.float32) * 0.1
    )


@pytest.mark.parametrize("pitch", [90, 120, 210, 300, 400])
def test_pitch_of_a_voice(pitch):
    assert pitch_hz(voice(pitch)) == pytest.approx(pitch, rel=0.02)


def test_a_clip_is_matched_in_level_and_pitch():
    source, around = voice(210), voice(220) * 0.6
    matched = match_voice(source[:4000], around, source)
    assert rms(matched) == pytest.approx(rms(around), rel=0.1)
    assert pitch_hz(matched) == pytest.approx(220, rel=0.02)


def test_noise_has_no_pitch():
    noise = np.random.default_rng(0).standard_normal(8_000).astype(np.float32)
    assert pitch_hz(noise) is None and pitch_hz(noise[:100]) is None


def test_a_held_sound_keeps_its_pitch_and_level():
    held = hold(voice(150, 0.1), 8_000)
    assert len(held) == 8_000
    assert pitch_hz(held) == pytest.approx(150, rel=0.03)
    assert rms(held) == pytest.approx(rms(voice(150)), rel=0.3)


def test_noise_is_drawn_at_any_length_and_is_the_rooms_own():
    rng = np.random.default_rng(1)
    room = [0.01 * rng.standard_normal(3_000).astype(np.float32) for _ in range(10)]
    noise = RoomNoise.choose([*room, np.zeros(50, np.float32)])
    for length in (1, 700, 20_000):
        assert len(noise.draw(length, random.Random(0))) == length
    assert rms(noise.draw(20_000, random.Random(0))) == pytest.approx(0.01, rel=0.15)
    assert not RoomNoise.choose([]).draw(100, random.Random(0)).any()
