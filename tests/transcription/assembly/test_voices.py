"""Speaker turns by the likeness of voices, without a diarizer."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from lsa_whisper import chat
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.errors import CheckpointError
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly import diarizer, voices
from lsa_whisper.transcription.assembly.diarizer import find_diarizer
from lsa_whisper.transcription.assembly.voices import VoiceDiarizer, cluster, find_weights

PAIRED = Path(__file__).parents[4] / "shared" / "data" / "paired"
SIZES = {"lstm": torch.nn.LSTM(40, 256, 3, batch_first=True), "linear": torch.nn.Linear(256, 256)}


@pytest.fixture
def weights(tmp_path):
    """Weights of the right shapes that mean nothing, with the package's other entries."""
    torch.manual_seed(0)
    layers = torch.nn.ModuleDict(SIZES)
    stored = {**layers.state_dict(), "similarity_weight": torch.ones(1)}
    torch.save({"step": 1, "model_state": stored}, tmp_path / "pretrained.pt")
    return tmp_path / "pretrained.pt"


@pytest.fixture
def two_sounds(tmp_path):
    """Three seconds that buzz high, five seconds of silence, three seconds that buzz low."""
    at = np.arange(3 * SAMPLE_RATE_HZ) / SAMPLE_RATE_HZ
    high, low = (0.2 * np.sign(np.sin(2 * np.pi * hz * at)) * np.abs(np.sin(12 * at)) for hz in (900, 110))
    samples = np.concatenate([high, np.zeros(5 * SAMPLE_RATE_HZ), low]).astype(np.float32)
    soundfile.write(tmp_path / "two.wav", samples, SAMPLE_RATE_HZ)
    return Recording.open(tmp_path / "two.wav")


def directions(*angles):
    return np.array([[np.cos(angle), np.sin(angle)] for angle in np.radians(angles)], np.float32)


def test_voices_are_counted_by_their_distance():
    vectors = directions(0, 3, 80, 5, 84, 78)
    assert cluster(vectors, None).tolist() == [0, 0, 1, 0, 1, 1]
    assert cluster(vectors, 1).tolist() == [0] * 6
    assert len(set(cluster(vectors, 3).tolist())) == 3
    assert cluster(vectors[:1], None).tolist() == [0] and cluster(vectors[:0], 2).tolist() == []


def test_a_long_recording_is_clustered_by_a_part_of_it(monkeypatch):
    vectors = directions(*([0, 80] * 50))
    monkeypatch.setattr(voices, "MAX_CLUSTERED", 10)
    assert cluster(vectors, None).tolist() == [0, 1] * 50


def test_turns_cover_the_speech_and_nothing_else(weights, two_sounds):
    turns = VoiceDiarizer(weights).turns(two_sounds, "cpu")
    assert turns is not None and {person.role for person in turns.participants} == {"Participant"}
    assert all(one[1].end_ms <= other[1].start_ms for one, other in zip(turns.spans, turns.spans[1:], strict=False))
    spoken = sum(span.duration_ms for _, span in turns.spans)
    assert 5500 < spoken < 7000 and not any(span & TimeSpan(4000, 7000) for _, span in turns.spans)


def test_silence_has_no_turns(weights, tmp_path):
    soundfile.write(tmp_path / "still.wav", np.zeros(SAMPLE_RATE_HZ, np.float32), SAMPLE_RATE_HZ)
    assert VoiceDiarizer(weights).turns(Recording.open(tmp_path / "still.wav"), "cpu") is None


def test_it_is_used_where_pyannote_is_not(weights, monkeypatch):
    monkeypatch.setattr(diarizer, "find_weights", lambda: weights)
    monkeypatch.setattr(diarizer, "_is_complete", lambda: False)
    found = find_diarizer("auto:2", None)
    assert found == VoiceDiarizer(weights, 2) and pickle.loads(pickle.dumps(found)) == found


def test_damaged_weights_are_one_clear_error(tmp_path):
    (tmp_path / "pretrained.pt").write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match=r"pretrained\.pt: is damaged, .* pip install --no-deps resemblyzer"):
        VoiceDiarizer(tmp_path / "pretrained.pt").load("cpu")


@pytest.mark.skipif(find_weights() is None, reason="resemblyzer is not installed")
@pytest.mark.skipif(not PAIRED.is_dir(), reason="the real recordings are not beside the checkout")
def test_two_real_voices_are_told_apart():
    turns = find_diarizer("auto", None).turns(Recording.open(PAIRED / "michael.flac"), "cpu")
    said = chat.read(PAIRED / "michael.cha").utterances
    assert len(turns.participants) == 2
    for code, span in turns.spans:
        overlaps = {each.speaker for each in said if each.span and (each.span & span)}
        assert len(overlaps) <= 1
        assert not overlaps or overlaps == {"MIC" if code == "PAR0" else "SIC"}
