"""Speech is found where it is, windows fit the context, and silence gives none."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tiny_whisper import silence, voice

from lsa_whisper import chat
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.audio.speech_energy import FRAME_S, SpeechActivity, find_speech
from lsa_whisper.audio.speech_windows import pack_windows

PAIRED = Path(__file__).resolve().parents[3] / "shared" / "data" / "paired"


def spans(sound):
    return [(start * FRAME_S, end * FRAME_S) for start, end in find_speech([sound], SAMPLE_RATE_HZ).regions]


@pytest.mark.parametrize(
    "sound",
    [
        silence(0),
        silence(5),
        silence(20, level=1e-4),
        silence(20, level=0.2),
        np.full(80_000, 0.5, np.float32),
        0.3 * np.sin(2 * np.pi * 50 * np.arange(160_000) / 16_000).astype(np.float32),
    ],
    ids=["empty", "digital silence", "hiss", "loud noise", "offset", "hum"],
)
def test_no_speech_gives_no_windows(sound):
    speech = find_speech([sound], SAMPLE_RATE_HZ)
    assert speech.regions == ()
    assert pack_windows(speech, context_s=8, duration_s=len(sound) / SAMPLE_RATE_HZ) == []


@pytest.mark.parametrize("level", [0.0, 1e-4, 3e-3])
@pytest.mark.parametrize("gain", [0.02, 1.0])
def test_turns_are_found_at_any_loudness(level, gain):
    sound = np.concatenate((silence(2), gain * voice(3), silence(4), gain * voice(1.5), silence(1)))
    found = spans(sound + silence(11.5, level=level * gain))
    assert len(found) == 2
    assert np.allclose(found, [(2, 5), (9, 10.5)], atol=0.15)


def test_a_quiet_speaker_after_a_loud_one_is_detected():
    sound = np.concatenate((voice(3), silence(2), 0.05 * voice(2, seed=4), silence(2)))
    assert len(spans(sound + silence(9, level=1e-5))) == 2


def test_blocks_do_not_matter():
    sound = np.concatenate((silence(1), voice(3), silence(1)))
    whole = find_speech([sound], SAMPLE_RATE_HZ)
    split = find_speech(np.split(sound, [7, 5000, 5001, 40_000]), SAMPLE_RATE_HZ)
    assert split.regions == whole.regions and np.allclose(split.level_db, whole.level_db)


frames = st.lists(st.tuples(st.integers(1, 900), st.integers(16, 400)), max_size=12)


@given(turns=frames, context_s=st.sampled_from([0.5, 6.0, 8.0, 30.0]), seed=st.integers(0, 3))
def test_windows_cover_all_speech_in_order_within_the_context(turns, context_s, seed):
    regions, at = [], 0
    for length, gap in turns:
        regions.append((at + gap, at + gap + length))
        at += gap + length
    level = np.random.default_rng(seed).normal(size=at + 5).astype(np.float32)
    windows = pack_windows(SpeechActivity(level, tuple(regions)), context_s=context_s, duration_s=len(level) * FRAME_S)
    assert all(0 < window.duration_ms <= context_s * 1000 for window in windows)
    pairs = pairwise(windows)
    assert all(one.end_ms <= other.start_ms for one, other in pairs)
    covered = np.zeros(len(level), bool)
    for window in windows:
        covered[round(window.start_ms / 20) : round(window.end_ms / 20)] = True
    assert all(covered[start:end].all() for start, end in regions)


def test_a_window_ends_in_an_early_long_silence_rather_than_full_within_an_utterance():
    speech = SpeechActivity(np.zeros(350, np.float32), ((0, 100), (140, 240), (250, 340)))
    windows = pack_windows(speech, context_s=6, duration_s=7)
    assert [(window.start_ms // 20, window.end_ms // 20) for window in windows] == [(0, 110), (130, 350)]


@example(turns=[(10, 16), (91, 100), (10, 19), (33, 18), (120, 100)])  # half of an odd gap is a frame longer
@given(turns=st.lists(st.tuples(st.integers(10, 120), st.integers(16, 100)), min_size=1, max_size=8))
def test_no_other_way_to_cut_costs_less(turns):
    regions, at = [], 0
    for length, gap in turns:
        regions.append((at + gap, at + gap + length))
        at += gap + length
    longest_s, frames = 6.0, at + 50
    windows = pack_windows(
        SpeechActivity(np.zeros(frames, np.float32), tuple(regions)), context_s=longest_s, duration_s=1000
    )

    def cost(cuts):
        """Of windows that begin with the given regions; endless when one is longer than the context."""
        at = [0, *cuts, len(regions)]
        for first, end in pairwise(at):
            begin = regions[first][0] - min(10, regions[0][0] if first == 0 else silence(first) - silence(first) // 2)
            close = regions[end - 1][1] + (10 if end == len(regions) else min(10, silence(end) // 2))
            if (close - begin) * FRAME_S > longest_s:
                return np.inf
        return 0.2 * (len(at) - 1) + sum(np.exp(-silence_s(cut) / 0.1) for cut in cuts)

    def silence(index):
        return regions[index][0] - regions[index - 1][1]

    def silence_s(index):
        return silence(index) * FRAME_S

    starts = [round(window.start_ms / 20) for window in windows]
    taken = [next(i for i, (start, _) in enumerate(regions) if start >= begin) for begin in starts]
    possible = (c for n in range(len(regions)) for c in combinations(range(1, len(regions)), n))
    assert cost(taken[1:]) == pytest.approx(min(map(cost, possible)))


def test_speech_without_a_pause_is_cut_where_it_is_quietest():
    level = np.zeros(1000, np.float32)
    level[[250, 330, 700]] = -5, -9, -9
    windows = pack_windows(SpeechActivity(level, ((0, 1000),)), context_s=8, duration_s=20)
    assert windows[0].end_ms == 330 * 20
    assert windows[1].end_ms == 700 * 20


def test_a_long_silence_ends_a_window_though_the_context_would_hold_it():
    speech = SpeechActivity(np.zeros(1500, np.float32), ((0, 100), (400, 500), (520, 600)))
    assert len(pack_windows(speech, context_s=30, duration_s=30)) == 2


@pytest.mark.parametrize("name", ["michael.flac", "eng_multi_speaker.mp3", "clip.mp3", "biling_vec_hrv_clip.mp3"])
def test_real_utterances_lie_in_windows(name):
    path = PAIRED / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    recording = Recording.open(path)
    speech = find_speech(recording.stream(), SAMPLE_RATE_HZ)
    heard = np.zeros(len(speech.level_db) + 1, bool)
    for window in pack_windows(speech, context_s=8, duration_s=recording.duration_s):
        heard[window.start_ms // 20 : -(-window.end_ms // 20)] = True
    said = [each.span for each in chat.read(path.with_suffix(".cha")).utterances if each.span and each.verbatim()]
    inside = [heard[span.start_ms // 20 : span.end_ms // 20].mean() for span in said if span.duration_ms >= 40]
    assert np.mean(inside) > 0.9, inside
