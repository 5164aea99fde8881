"""The two commands, and the door that needs none of our code."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import soundfile
from calls import contents
from click.testing import CliRunner

# Its core, not its name: pytest puts tests/ on the path, where this very folder is called batchalign.
pytest.importorskip("batchalign._core", reason="Batchalign is not installed: make test-batchalign")

import batchalign

from lsa_whisper import chat, checkpoint
from lsa_whisper.cli import main
from lsa_whisper.errors import DiskError


@pytest.fixture
def visits(storybook, tmp_path):
    """Twenty recordings of six seconds in two folders, of which one is silent and one is no sound."""
    folder = tmp_path / "visits"
    (folder / "deep").mkdir(parents=True)
    sound, rate_hz = soundfile.read(storybook / "test01.flac")
    for number in range(18):
        place = folder / "deep" if number % 2 else folder
        soundfile.write(place / f"v{number:02d}.wav", sound[number * rate_hz :][: 6 * rate_hz], rate_hz)
    soundfile.write(folder / "silent.wav", np.zeros(2 * rate_hz), rate_hz)
    (folder / "corrupt.wav").write_bytes(b"RIFF\x00\x00\x00\x00WAVEjunk")
    return folder


def cli(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def test_one_bad_recording_of_twenty_is_named_and_the_rest_is_written(visits, scripted, tmp_path):
    words = ("-o", tmp_path / "out", "--model", scripted, "--lang", "eng", "-n", "3")
    result = cli("batchalign", "transcribe", visits, *words)
    assert result.exit_code == 1
    assert "19 transcribed, 0 kept, 1 failed" in result.stdout
    (failure,) = [line for line in result.stdout.splitlines() if line.startswith("failed")]
    assert "corrupt.wav" in failure
    assert "v00.wav: 2 speakers written, 3 expected" in result.stderr
    written = contents(tmp_path / "out")
    assert len(written) == 19 and "deep/v01.cha" in written
    assert not [name for name in written if chat.check(chat.read(tmp_path / "out" / name, strict=True))]
    assert b"no speech was found" in written["silent.cha"] and b"\txxx ." in written["silent.cha"]

    again = cli("batchalign", "transcribe", visits, *words)
    assert "0 transcribed, 19 kept, 1 failed" in again.stdout and contents(tmp_path / "out") == written


def test_a_full_disk_ends_the_run_and_leaves_nothing_half(visits, scripted, tmp_path, monkeypatch):
    tried = []

    def full(transcript, path):
        tried.append(path)
        raise DiskError(f"{path}: cannot write it (No space left on device); check the folder and the disk")

    monkeypatch.setattr(chat, "write", full)
    out = tmp_path / "out"
    result = cli("batchalign", "transcribe", visits, "-o", out, "--model", scripted, "--lang", "eng")
    assert result.exit_code == 1 and "No space left" in result.stderr
    assert len(tried) == 1 and contents(out) == {}  # neither the draft that Batchalign wrote nor the lock


def test_corrected_transcripts_are_never_overwritten(visits, scripted, tmp_path):
    words = (
        "batchalign",
        "transcribe",
        visits / "v00.wav",
        visits / "v02.wav",
        "-o",
        tmp_path / "out",
        "--lang",
        "eng",
    )
    cli(*words, "--model", scripted)
    corrected = tmp_path / "out" / "v00.cha"
    corrected.write_bytes(corrected.read_bytes().replace(b"dog", b"frog"))
    after = cli(*words, "--model", scripted, "--wor")
    assert after.exit_code == 1 and "1 transcribed, 0 kept, 1 failed" in after.stdout and "by hand" in after.stdout
    assert b"frog" in corrected.read_bytes() and b"%wor" in (tmp_path / "out" / "v02.cha").read_bytes()


def test_batchaligns_own_command_knows_the_engine(visits, scripted, tmp_path):
    chosen = [visits / name for name in ("corrupt.wav", "silent.wav", "deep/v01.wav")]
    words = ["batchalign", "run", "--", "--plain", "transcribe", *chosen, "-o", tmp_path / "out", "--lang", "eng"]
    words += ["--engine", "lsa", "--model", scripted, "--wor"]
    # A cache of its own: a run must neither find nor leave anything in the one of whoever runs the tests.
    environment = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "lsa_whisper", *map(str, words)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1, done.stdout + done.stderr  # Batchalign's own code for "some failed"
    assert "done=2 fail=1" in done.stdout and "corrupt.wav" in done.stdout
    transcript = chat.read(tmp_path / "out" / "deep" / "v01.cha", strict=True)
    assert chat.check(transcript) == []
    assert {person.role for person in transcript.participants.values()} == {"Target_Child", "Adult"}
    assert transcript.utterances[0].text == "&-um I [/] I [/] I want &+fr it ." and transcript.utterances[0].word_times


def test_the_engine_without_a_model_is_refused(visits, tmp_path):
    words = ["batchalign", "run", "--", "--plain", "transcribe", str(visits / "v00.wav"), "--lang", "eng"]
    done = subprocess.run(
        [sys.executable, "-m", "lsa_whisper", *words, "--engine", "lsa"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "--engine lsa needs a model" in " ".join(done.stdout.split())


def test_an_exported_model_needs_none_of_our_code(nano, storybook, tmp_path):
    """Batchalign's own ``--engine whisper``, without the segmenter that it would download."""
    from batchalign.lang import LanguageCode

    sound, rate_hz = soundfile.read(storybook / "test01.flac")
    soundfile.write(tmp_path / "visit.wav", sound[: 6 * rate_hz], rate_hz)
    exported = checkpoint.export(nano, tmp_path / "exported")
    backend = batchalign.WhisperBackend(str(exported), language=LanguageCode.from_str("eng"))
    pipeline = batchalign.recipes.transcribe(asr_backend=backend, cache=batchalign.CacheSpec.bypass(), workers=1)
    (outcome,) = pipeline.run([batchalign.inputs.media_from_path(tmp_path / "visit.wav", language="eng")])
    assert not outcome.is_failed, outcome.error
    outcome.write(str(tmp_path / "visit.cha"))
    spoken = [word for u in chat.read(tmp_path / "visit.cha").utterances for word, _ in u.word_times]
    assert {"page", "goat"} <= {word.lower() for word in spoken}
