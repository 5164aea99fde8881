"""Quiet speech is found as well as loud speech, and made loud before it is decoded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_whisper import silence, voice

from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech_energy import FRAME_S, find_speech

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "data" / "speech" / "1089-134686-0000.flac"
STORY = ROOT / "corpora" / "storybook" / "test" / "test01.flac"


def at_level(sound, gain_db):
    """Return a sound at another level, with the rounding of 16 bits."""
    return (np.round(sound * 10 ** (gain_db / 20) * 32_767) / 32_767).astype(np.float32)


def found_s(sound):
    return FRAME_S * sum(end - start for start, end in find_speech([sound], 16_000).regions)


@pytest.mark.parametrize("path", [REAL, STORY], ids=["read speech", "storybook"])
@pytest.mark.parametrize("gain_db", [-10, -20, -30, -40])
def test_speech_is_found_at_any_level(path, gain_db):
    if not path.exists():
        pytest.skip(f"{path} is not here")
    sound = Recording.open(path).load()[: 16_000 * 30]
    assert found_s(at_level(sound, gain_db)) == pytest.approx(found_s(sound), rel=0.1)


@pytest.mark.parametrize("gain_db", [-20, -50])
def test_the_gain_brings_quiet_speech_to_one_level(gain_db):
    sound = np.concatenate((silence(2, level=1e-6), voice(3), silence(2, level=1e-6)))
    loud, quiet = (find_speech([at_level(sound, each)], 16_000) for each in (0, gain_db))
    assert loud.gain == 1.0
    assert quiet.gain == 1.0 if gain_db == -20 else quiet.gain > 3
    assert find_speech([silence(3)], 16_000).gain == 1.0
