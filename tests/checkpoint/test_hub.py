"""Hub names: a cached model is used without the network, any other fails soon where there is none."""

from __future__ import annotations

import shutil
import time

import pytest
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.checkpoint import hub
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning import estimate_memory


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "hub" / "models--lab--whisper" / "snapshots" / "abc"


@pytest.mark.parametrize("reason", ["HF_HUB_OFFLINE is set", "the Hugging Face hub cannot be reached"])
def test_without_a_network_a_sentence_comes_before_an_answer(monkeypatch, reason):
    if reason.startswith("HF"):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    else:
        monkeypatch.setattr(hub, "_answers", lambda: time.sleep(60))
    began = time.monotonic()
    with pytest.raises(
        CheckpointError, match=rf"^lab/whisper: not on this machine, and {reason}; .* local folder"
    ) as said:
        checkpoint.load("lab/whisper")
    assert time.monotonic() - began < 30 and "\n" not in str(said.value)


def test_a_cached_model_is_loaded_without_the_network(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "is_reachable", lambda: pytest.fail("the hub was asked"))
    cache.parent.mkdir(parents=True)
    shutil.copytree(build_checkpoint(tmp_path / "built"), cache)
    loaded = checkpoint.load("lab/whisper")
    assert loaded.path == "lab/whisper" and loaded.model.name_or_path == "lab/whisper"
    assert checkpoint.model_overview("lab/whisper")[0].state == "ok"


def test_a_partly_cached_model_is_not_taken_for_a_complete_one(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    cache.parent.mkdir(parents=True)
    shutil.copytree(build_checkpoint(tmp_path / "built"), cache)
    (cache / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match="not on this machine"):
        checkpoint.load("lab/whisper")
    assert checkpoint.model_overview("lab/whisper")[0].state == "warn"


def test_an_estimate_of_an_unknown_name_names_a_folder(monkeypatch):
    with pytest.raises(CheckpointError, match="checkpoint folder"):
        estimate_memory("lab/whisper")
