"""Which model is used where none is named."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from lsa_whisper.checkpoint import hub as hub_module
from lsa_whisper.checkpoint.choice import choose_model, list_models, use_model
from lsa_whisper.checkpoint.user_settings import read_settings, remember_model, settings_file
from lsa_whisper.cli import main
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.system.shipped import NANO, shipped

MODEL = shipped(NANO).absolute()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty machine without a network and without a GPU."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.delenv("LSA_WHISPER_MODEL", raising=False)
    return tmp_path


def cached(folder, name):
    snapshot = folder / "hub" / f"models--{name.replace('/', '--')}" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text('{"model_type": "whisper"}')
    (snapshot / "model.safetensors").write_bytes(b"")


def test_the_option_precedes_the_environment_and_the_chosen_model(home, monkeypatch):
    other = home / "other"
    shutil.copytree(MODEL, other)
    use_model(other)
    assert choose_model() == str(other)
    monkeypatch.setenv("LSA_WHISPER_MODEL", str(MODEL))
    assert choose_model() == str(MODEL)
    assert choose_model("./named") == "./named"


def test_the_chosen_model_is_kept_by_its_whole_path(home, monkeypatch):
    shutil.copytree(MODEL, home / "trained")
    monkeypatch.chdir(home)
    assert str(home / "trained") in use_model("trained")
    monkeypatch.chdir("/")
    assert choose_model() == str(home / "trained")


def test_a_folder_without_a_model_cannot_be_chosen(home):
    with pytest.raises(CheckpointError, match="no such folder"):
        use_model(home / "nothing")
    assert not settings_file().exists()


def test_nano_is_a_name(home, monkeypatch):
    monkeypatch.chdir(home)
    assert Path(choose_model("nano")) == MODEL


@pytest.mark.parametrize(("device", "name"), [("cpu", "whisper-small"), ("cuda:0", "whisper-large-v3-turbo")])
def test_a_stock_model_suits_the_device_and_is_announced(home, device, name):
    cached(home, f"openai/{name}")
    lines = []
    assert choose_model(device=device, report=lines.append) == f"openai/{name}"
    assert name in lines[0] and "asked for disfluencies in English" in lines[0] and "lsa-whisper finetune" in lines[0]


@pytest.mark.parametrize("name", [None, "openai/whisper-medium"])
def test_without_a_network_one_sentence_names_the_remedies(name):
    with pytest.raises(CheckpointError, match=r"not on this machine.*--model PATH, LSA_WHISPER_MODEL=PATH") as raised:
        choose_model(name)
    assert "\n" not in str(raised.value)


def test_a_hub_that_does_not_answer_is_given_up_in_time(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(hub_module, "_answers", lambda: time.sleep(60))
    began = time.monotonic()
    with pytest.raises(CheckpointError, match="cannot be reached"):
        choose_model()
    assert time.monotonic() - began < 30, "the hub's minute was waited for"


def test_transcribe_without_a_model_ends_soon_and_writes_nothing(home):
    shutil.copyfile(next(Path("corpora/storybook/test").glob("*.flac")), home / "audio.flac")
    command = [sys.executable, "-m", "lsa_whisper", "transcribe", "audio.flac"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "no model was named" in done.stderr and "lsa-whisper models use" in done.stderr
    assert not (home / "audio.cha").exists()


def test_models_lists_chosen_trained_shipped_and_cached_ones(home):
    cached(home, "openai/whisper-tiny")
    trained = home / "trained"
    shutil.copytree(MODEL, trained)
    remember_model(trained, "WER 12 %")
    use_model("openai/whisper-tiny")
    names = [model.name for model in list_models().models]
    assert names == ["openai/whisper-tiny", str(trained), str(MODEL)]
    printed = CliRunner().invoke(main, ["models"]).output
    assert printed.startswith("* openai/whisper-tiny") and "WER 12 %" in printed and "labels chat" in printed
    assert "labels chat; shipped with the program" in printed


def test_a_model_that_has_gone_is_forgotten_unless_it_is_the_chosen_one(home):
    shutil.copytree(MODEL, home / "one")
    shutil.copytree(MODEL, home / "two")
    use_model(home / "one")
    remember_model(home / "one")
    shutil.rmtree(home / "one")
    remember_model(home / "two")
    assert list(read_settings().written) == [str(home / "two")]
    assert list_models().models[0].is_missing


def test_broken_settings_are_one_sentence(home):
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("{")
    with pytest.raises(LsaWhisperError, match="correct or remove it"):
        choose_model()


def test_choosing_a_model_says_what_it_leaves_out(tmp_path):
    stock = shutil.copytree(shipped(NANO), tmp_path / "stock")
    (stock / "lsa_whisper.json").unlink()
    assert "NOTE: this model leaves out disfluencies" in use_model(stock)
    assert "NOTE" not in use_model(shipped(NANO))
