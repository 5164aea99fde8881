"""Fixtures of the tests that decode: a random model, one that writes a fixed text, and a recording with two turns."""

from __future__ import annotations

import pytest
from tiny_whisper import build_checkpoint, silence, teach, voice

DISFLUENT = "<|0.20|>&-um I [/] I [/] I [/] I want it .<|1.60|><|1.80|>the cat [//] the dog sat .<|2.40|>"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The folder of a random English model."""
    return build_checkpoint(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def scripted(tiny, tmp_path_factory):
    """The folder of a model that writes ``DISFLUENT`` for every window."""
    return teach(tiny, tmp_path_factory.mktemp("scripted") / "model", DISFLUENT)


@pytest.fixture(scope="session")
def visit(tmp_path_factory):
    """A recording of 15.5 s: two turns of 3 s and 4 s in quiet noise, far apart."""
    import numpy as np
    import soundfile

    quiet = [silence(length, level=1e-4, seed=n) for n, length in enumerate((1.0, 5.0, 2.5))]
    sound = np.concatenate((quiet[0], voice(3.0), quiet[1], voice(4.0), quiet[2]))
    path = tmp_path_factory.mktemp("visit") / "visit.wav"
    soundfile.write(path, sound, 16_000)
    return path


@pytest.fixture
def energy_vad(monkeypatch):
    """Listen to the energy alone by default: Silero's model finds no speech in the synthetic voices of these tests."""
    from lsa_whisper.audio import vad

    detect = vad.detect_speech
    monkeypatch.setattr(vad, "detect_speech", lambda name, *more: detect({"either": "energy"}.get(name, name), *more))
