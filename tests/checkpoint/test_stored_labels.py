"""The tagger of a model's corpus stays with the model: saved, loaded, exported, merged, and part of its digest."""

from __future__ import annotations

import dataclasses

import pytest
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError
from lsa_whisper.transcription import Transcriber

WEIGHTS = {"labels": ["begin revision", "none"], "transitions": [[0, 0], [0, 0]], "features": {"word 0: é": [9.0, 0]}}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("base"))


def with_weights(base, out, weights):
    loaded = checkpoint.load(base)
    parts = {each.name: getattr(loaded, each.name) for each in dataclasses.fields(loaded)}
    kept = ("model", "feature_extractor", "tokenizer", "labels")
    return checkpoint.save(out, retraces={"eng": weights}, **{name: parts[name] for name in kept})


def test_it_is_loaded_exported_and_merged(base, tmp_path):
    folder = with_weights(base, tmp_path / "model", WEIGHTS)
    assert checkpoint.load(base).retraces == {}
    assert checkpoint.load(folder).retraces == {"eng": WEIGHTS}
    assert checkpoint.load(checkpoint.export(folder, tmp_path / "hf")).retraces == {"eng": WEIGHTS}
    assert checkpoint.load(checkpoint.merge([folder, base], tmp_path / "merged").out).retraces == {"eng": WEIGHTS}
    assert checkpoint.digest(folder) != checkpoint.digest(base)


def test_it_is_copied_for_ctranslate2(base, tmp_path):
    pytest.importorskip("ctranslate2")
    folder = with_weights(base, tmp_path / "model", WEIGHTS)
    assert checkpoint.load_converted(checkpoint.export(folder, tmp_path / "ct2", to="ct2")).retraces["eng"] == WEIGHTS


def test_weights_that_are_none_are_named(base, tmp_path):
    folder = with_weights(base, tmp_path / "model", {"labels": ["none"]})
    with pytest.raises(CheckpointError, match=r"model: retraces-eng\.json is not a tagger .* delete this file"):
        Transcriber(folder)
    Transcriber(folder, retraces=False)
    (folder / "retraces-eng.json").write_text("[")
    with pytest.raises(CheckpointError, match=r"retraces-eng\.json: cannot be read"):
        checkpoint.load(folder)
