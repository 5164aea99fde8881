"""A model that is unsure of every window: its halves are decoded, and every way of working writes the same."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
import torch
from model_fixtures import DISFLUENT
from tiny_whisper import silence, teach, voice

from lsa_whisper import chat
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.transcription import transcribe
from lsa_whisper.transcription.long_form import repairs

NAMES = ("turns.cha", ".turns.confidences.json")
_FEW_STEPS = 20  # after which the model knows its text, and is not sure of it


@pytest.fixture(scope="module")
def unsure(tiny, tmp_path_factory):
    """The folder of a model that writes its text with a mean log-probability of about -1.2."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return teach(tiny, tmp_path_factory.mktemp("unsure") / "model", DISFLUENT, steps=_FEW_STEPS)


@pytest.fixture(scope="module")
def turns(tmp_path_factory):
    """A recording with eight turns of 5 to 7 s."""
    parts = [(silence(4.0, level=1e-4, seed=n), voice(5.0 + n % 3, seed=n)) for n in range(8)]
    path = tmp_path_factory.mktemp("turns") / "turns.wav"
    soundfile.write(path, np.concatenate([each for part in parts for each in part]), 16_000)
    return path


@pytest.fixture
def joined(monkeypatch):
    """The windows whose halves were joined."""
    found, original = [], repairs.join_halves
    monkeypatch.setattr(repairs, "join_halves", lambda *parts: found.append(parts) or original(*parts))
    return found


def written(folder):
    return [(folder / name).read_bytes() for name in NAMES]


@pytest.fixture(scope="module")
def whole(turns, unsure, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    transcribe([turns], model=unsure, vad="energy", out=folder, batch_size=1)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [8, 32])
def test_batches_of_any_size_write_the_same(batch_size, turns, whole, unsure, joined, tmp_path):
    transcribe([turns], model=unsure, vad="energy", out=tmp_path, batch_size=batch_size)
    assert joined and (tmp_path / "turns.cha").read_bytes() == (whole / "turns.cha").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 8, 32])
def test_both_engines_write_the_same(batch_size, turns, whole, unsure, joined, tmp_path):
    pytest.importorskip("ctranslate2")
    transcribe([turns], model=unsure, vad="energy", out=tmp_path, engine="ct2", batch_size=batch_size)
    one, other = (chat.read(folder / "turns.cha").utterances for folder in (whole, tmp_path))
    assert joined and [(each.text, each.span) for each in one] == [(each.text, each.span) for each in other]


@pytest.mark.slow
def test_some_halves_are_kept(turns, whole, unsure, tmp_path, monkeypatch):
    monkeypatch.setattr(repairs, "is_uncertain", lambda *_: False)
    transcribe([turns], model=unsure, vad="energy", out=tmp_path)
    once, again = (chat.read(folder / "turns.cha").utterances for folder in (tmp_path, whole))
    assert len(once) < len(again)


@pytest.mark.slow
def test_a_run_that_is_killed_between_window_and_halves_resumes_with_the_same_bytes(
    turns, whole, unsure, tmp_path, monkeypatch
):
    monkeypatch.setattr("lsa_whisper.transcription.long_form.decode._BATCHES_AT_ONCE", 1)
    original, decoded = TransformersDecoder.decode, []

    def dying(self, sounds):
        decoded.append(len(sounds))
        if decoded.count(2) == 3:  # the halves of a third window
            raise KeyboardInterrupt
        return original(self, sounds)

    monkeypatch.setattr(TransformersDecoder, "decode", dying)
    with pytest.raises(KeyboardInterrupt):
        transcribe([turns], model=unsure, vad="energy", out=tmp_path, batch_size=1)
    (kept,), _ = tmp_path.iterdir(), decoded.clear()
    assert kept.name.endswith(".windows.jsonl")
    monkeypatch.setattr(
        TransformersDecoder, "decode", lambda self, sounds: decoded.append(len(sounds)) or original(self, sounds)
    )
    transcribe([turns], model=unsure, vad="energy", out=tmp_path, batch_size=1)
    assert decoded[0] == 1 and written(tmp_path) == written(whole)
