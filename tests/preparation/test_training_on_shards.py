"""Training reads the sound inside shards: the recordings and the manifests may be gone."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.audio.clip import decode_audio
from lsa_whisper.cli import main
from lsa_whisper.errors import AudioError, ManifestError
from lsa_whisper.preparation import prepare
from lsa_whisper.system.shipped import NANO, STORYBOOK, shipped


@pytest.fixture
def shards(session, talk, tmp_path):
    for name in ("a", "b", "c", "d"):
        folder = session(name, talk(40))
    prepare([folder], tmp_path / "out", one_utterance=True, shards=2)
    return tmp_path / "out"


def test_the_audio_of_each_row_is_that_of_the_recording(shards):
    pattern = shards / "train-*.parquet"
    rows = manifest.read(pattern)
    assert rows == manifest.read(shards / "train.jsonl") and len(manifest.manifest_files(pattern)) == 2
    audio = manifest.open_audio(pattern)
    assert len(rows) > 64
    for index in (0, 1, 31, 32, len(rows) // 2 - 1, len(rows) // 2, len(rows) - 1):
        row = rows[index]
        expected = Recording.open(row.audio_filepath).load(row.span)
        np.testing.assert_allclose(decode_audio(audio.read(index), "x"), expected, atol=2**-15)
    assert manifest.open_audio(shards / "train.jsonl") is None
    assert manifest.sha256(pattern) != manifest.sha256(manifest.manifest_files(pattern)[0])
    assert len(manifest.open_rows(pattern)) == len(rows)


def test_a_folder_of_one_split_is_a_manifest(shards, tmp_path):
    (tmp_path / "alone").mkdir()
    for path in shards.glob("train-*.parquet"):
        shutil.copy(path, tmp_path / "alone")
    texts = [row.text for row in manifest.read(tmp_path / "alone")]
    assert texts == [row.text for row in manifest.read(shards / "train.jsonl")]


def test_what_is_no_set_of_shards_is_a_sentence(shards, tmp_path):
    with pytest.raises(ManifestError, match="shards of several splits"):
        manifest.read(shards)
    with pytest.raises(ManifestError, match="no Parquet shards"):
        manifest.read(tmp_path / "none-*.parquet")
    with pytest.raises(AudioError, match="row 3: the audio inside cannot be read"):
        decode_audio(b"no sound", "a.parquet: row 3")


@pytest.mark.slow
def test_finetune_needs_neither_recordings_nor_manifests(tmp_path):
    (tmp_path / "corpus").mkdir()
    for name in ("train01", "train02", "train03"):
        for suffix in ("cha", "flac"):
            shutil.copyfile(shipped(STORYBOOK) / "train" / f"{name}.{suffix}", tmp_path / "corpus" / f"{name}.{suffix}")
    prepare([tmp_path / "corpus"], tmp_path / "data", context_s=6, shards=2)
    (tmp_path / "moved").mkdir()
    for path in (tmp_path / "data").glob("*.parquet"):
        shutil.move(path, tmp_path / "moved")
    shutil.rmtree(tmp_path / "data")
    shutil.rmtree(tmp_path / "corpus")
    words = ["finetune", tmp_path / "moved", "--model", shipped(NANO), "-o", tmp_path / "run"]
    done = CliRunner().invoke(main, [str(word) for word in [*words, "--set", "training.max_steps=2"]])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run" / "model.safetensors").exists()
