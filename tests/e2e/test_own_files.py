"""A folder of SALT files and one of ELAN files become a checkpoint, as docs/your-corpus.md says."""

from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner

from lsa_whisper import chat, manifest
from lsa_whisper.cli import main
from lsa_whisper.shipped import NANO, STORYBOOK, shipped

NAMES = ("train01", "train02", "train03")


def run(*words):
    done = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_salt_and_elan_files_become_a_checkpoint(tmp_path):
    corpus = shipped(STORYBOOK) / "train"
    (tmp_path / "originals").mkdir()
    (tmp_path / "sound").mkdir()
    for name in NAMES:
        shutil.copyfile(corpus / f"{name}.cha", tmp_path / "originals" / f"{name}.cha")
        shutil.copyfile(corpus / f"{name}.flac", tmp_path / "sound" / f"{name}.flac")
    run(
        "convert",
        *(tmp_path / "originals" / f"{name}.cha" for name in NAMES[:2]),
        "-o",
        tmp_path / "salt",
        "--to",
        "salt",
    )
    run("convert", tmp_path / "originals" / f"{NAMES[2]}.cha", "-o", tmp_path / "elan", "--to", "eaf")

    run("convert", tmp_path / "salt", "-o", tmp_path / "chat", "--from", "slt")
    run("convert", tmp_path / "elan", "-o", tmp_path / "chat", "--from", "eaf")
    for name in NAMES:
        before, after = (chat.read(tmp_path / place / f"{name}.cha") for place in ("originals", "chat"))
        assert [(u.text, u.span) for u in after.utterances] == [(u.text, u.span) for u in before.utterances]
    printed = run(
        "prepare", tmp_path / "chat", "--media", tmp_path / "sound", "-o", tmp_path / "data", "--context", "6"
    )
    rows = manifest.read(tmp_path / "data" / "train.jsonl")
    assert len(rows) > 10 and "rejected" not in printed
    few = ("--set", "training.max_steps=2")
    run("finetune", tmp_path / "data", "--model", shipped(NANO), "-o", tmp_path / "run", *few)
    assert (tmp_path / "run" / "model.safetensors").exists()
