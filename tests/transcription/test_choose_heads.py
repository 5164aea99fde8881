"""Heads that follow the sound are found, and written where others look for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lsa_whisper.checkpoint import folder
from lsa_whisper.errors import CheckpointError, CorpusError, LsaWhisperError
from lsa_whisper.transcription.calibrate import calibrate
from lsa_whisper.transcription.choose_heads import choose_heads

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / "corpora" / "storybook" / "dev"


@pytest.fixture
def misled(tmp_path):
    """nano with one head named, which does not follow the sound."""
    model = Path(shutil.copytree(ROOT / "models" / "nano", tmp_path / "nano"))
    settings = json.loads((model / "generation_config.json").read_text())
    (model / "generation_config.json").write_text(json.dumps(settings | {"alignment_heads": [[0, 3]]}))
    return model


@pytest.mark.slow
def test_better_heads_are_found_and_written(misled):
    before = {path.name: path.read_bytes() for path in misled.iterdir()}
    heads = choose_heads(misled, [DEV], window_count=6)
    # The only head in use looks anywhere; one that follows the sound must be found instead.
    assert heads.words > 30 and heads.within[1][1] > heads.within[0][1] + 0.2
    assert heads.within[1][2] > 0.6 and heads.chosen[0] != (0, 3)
    after = {path.name: path.read_bytes() for path in misled.iterdir()}
    assert {name for name in before if before[name] != after.get(name)} == {"generation_config.json"}
    settings = [json.loads(each["generation_config.json"]) for each in (before, after)]
    assert settings[1]["alignment_heads"] == [list(head) for head in heads.chosen]
    assert settings[0] | settings[1] == settings[1] and set(settings[0]) == set(settings[1])
    assert "chosen" in heads.table()


def test_unusable_sessions_are_reported(misled, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    shutil.copy(DEV / "dev01.flac", plain)
    text = (DEV / "dev01.cha").read_text()
    (plain / "dev01.cha").write_text("".join(line for line in text.splitlines(True) if not line.startswith("%wor")))
    with pytest.raises(CorpusError, match="no utterance of the corpus has word times"):
        choose_heads(misled, [plain])
    (misled / "generation_config.json").unlink()
    with pytest.raises(CheckpointError, match="the folder of a complete model"):
        choose_heads(misled, [DEV])


def test_a_model_that_cannot_be_changed_is_refused_before_it_is_measured(misled, tmp_path, monkeypatch):
    with pytest.raises(CheckpointError, match=r"whisper-base: no such folder; name the folder of a model, where"):
        calibrate("openai/whisper-base", DEV)
    monkeypatch.setattr(folder, "unwritable_reason", lambda _: "Read-only file system")
    for measure in (calibrate, lambda model, corpus: choose_heads(model, [corpus])):
        with pytest.raises(CheckpointError, match=r"nano: the result is stored there \(Read-only file system\)"):
            measure(misled, DEV)


def test_no_window_is_no_measurement(misled):
    with pytest.raises(LsaWhisperError, match="give 1 or more"):
        choose_heads(misled, [DEV], window_count=0)
