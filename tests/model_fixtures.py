"""What the tests that decode use: a random model, one that writes a fixed text, and a recording with two turns."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from tiny_whisper import build_checkpoint, silence, teach, voice

from lsa_whisper.decoding.partial import PartialDecoding

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


@contextmanager
def stopped_with_results(count=None):
    """Expect a call to end, as by Ctrl-C, after it has stored the first results: of a batch ``count``, or all."""
    append = PartialDecoding.append

    def stop(self, results):
        append(self, results[:count])
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(PartialDecoding, "append", stop)
        yield
