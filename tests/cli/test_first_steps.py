"""What people type on their first day ends in a transcript."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lsa_whisper.checkpoint.choice import resolve_model
from lsa_whisper.cli import main
from lsa_whisper.languages import chat_code, whisper_code
from lsa_whisper.review.open_files import list_review_files
from lsa_whisper.system.shipped import NANO, STORYBOOK, shipped

SOUND = shipped(STORYBOOK).absolute() / "test" / "test01.flac"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LSA_WHISPER_MODEL", "nano")
    for name in ("visit.flac", "Anna (2).flac"):
        shutil.copyfile(SOUND, tmp_path / name)
    return tmp_path


def lsa(*words):
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_names_of_real_life_are_transcribed_and_found_again(folder):
    found = lsa("transcribe", "Anna (2).flac", "--language", "English", "--format", "srt,eaf")
    assert found.exit_code == 0, found.output
    assert "Anna (2).flac becomes Anna_2.cha" in found.stderr
    assert all((folder / f"Anna_2.{kind}").is_file() for kind in ("cha", "srt", "eaf"))
    (row,) = [each for each in list_review_files(folder, None) if each.name == "Anna_2.cha"]
    assert row.recording == folder / "Anna (2).flac" and not row.problem


def test_a_transcript_may_be_named(folder):
    assert lsa("transcribe", "visit.flac", "-o", "results/visit.cha").exit_code == 0
    assert "@Media:\tvisit, audio" in (folder / "results" / "visit.cha").read_text()


def test_shipped_files_have_their_names_in_an_empty_folder(folder):
    assert lsa("inspect", "corpora/storybook/test").exit_code == 0
    assert lsa("doctor", "--model", NANO).exit_code == 0
    assert lsa("estimate-memory", "tiny", "--recipe", "recipes/demo-lora.yaml").exit_code == 0


@pytest.mark.parametrize("code", ["English", "en", "eng", "ENGLISH"])
def test_a_language_has_several_names(code):
    assert (chat_code(code), whisper_code(code)) == ("eng", "en")


def test_short_names_are_models_wherever_one_is_asked_for(folder):
    assert [resolve_model(name) for name in ("base", "large-v3")] == ["openai/whisper-base", "openai/whisper-large-v3"]
    (folder / "base").mkdir()
    assert resolve_model("base") == "base"
    found = [
        parameter
        for command in main.commands.values()
        for parameter in command.params
        if parameter.name in ("model", "draft", "checkpoint", "checkpoints") and command.name != "estimate-memory"
    ]
    assert len(found) >= 10 and all(type(parameter.type).__name__ == "_ModelType" for parameter in found)


def test_the_help_of_transcribe_has_everyday_options_first():
    help_text = lsa("transcribe", "--help").output
    assert "Other options" not in help_text.replace("--help", "") or help_text.index("--model") < help_text.index(
        "Other"
    )
    assert help_text.index("--model") < help_text.index("Who speaks") < help_text.index("--beams")
    wanted = {
        option for each in main.commands["transcribe"].params if isinstance(each, click.Option) for option in each.opts
    }
    assert all(option in help_text for option in wanted)


def test_doctor_begins_with_what_this_machine_can_do(folder):
    environment = os.environ | {"XDG_CONFIG_HOME": str(folder / "config")}
    command = [sys.executable, "-m", "lsa_whisper", "doctor"]
    first, *_ = subprocess.run(command, env=environment, capture_output=True, text=True).stdout.splitlines()
    assert first.split()[1] == "summary" and ("you can transcribe" in first or "is to be mended" in first)
    config = Path(environment["XDG_CONFIG_HOME"]) / "lsa-whisper"
    config.mkdir(parents=True)
    (config / "models.json").write_text('{"chosen": "/gone/model"}')
    assert (
        "the chosen model is missing: /gone/model"
        in subprocess.run(command, env=environment, capture_output=True, text=True).stdout
    )
