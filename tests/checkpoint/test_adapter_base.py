"""An adapter works from every folder, knows its base when both have moved, and refuses another one."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from peft import LoraConfig, get_peft_model
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with ``models/base``, and an adapter on it saved in ``runs/lora`` from that folder by relative paths."""
    build_checkpoint(tmp_path / "built").rename(tmp_path / "built" / "base")
    (tmp_path / "project").mkdir()
    (tmp_path / "built").rename(tmp_path / "project" / "models")
    monkeypatch.chdir(tmp_path / "project")
    loaded = checkpoint.load("models/base")
    model = get_peft_model(loaded.model, LoraConfig(r=2, target_modules=["q_proj"]))
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer, "labels": loaded.labels}
    checkpoint.save("runs/lora", model=model, **parts)
    monkeypatch.chdir("/")
    return tmp_path / "project"


def settings_of(adapter):
    return json.loads((adapter / "adapter_config.json").read_text())


def test_it_records_name_path_and_weights_of_its_base(project):
    record = json.loads((project / "runs/lora/lsa_whisper.json").read_text())["base"]
    assert record["name"] == "base" and record["path"] == "../../models/base" and len(record["weights_sha256"]) == 64
    assert settings_of(project / "runs/lora")["base_model_name_or_path"] == str(project / "models/base")


def test_it_works_from_every_folder_and_after_a_move(project, tmp_path, monkeypatch):
    before = checkpoint.digest(project / "runs/lora")
    project.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert checkpoint.load("moved/runs/lora").model is not None
    assert checkpoint.digest("moved/runs/lora") == before
    (row,) = [row for row in checkpoint.model_overview("moved/runs/lora") if row.name == "adapter"]
    assert "rank 2" in row.fact and "models/base" in row.fact


def test_a_relative_path_of_an_older_adapter_is_found_above_it(project):
    adapter = project / "runs/lora"
    (adapter / "adapter_config.json").write_text(
        json.dumps(settings_of(adapter) | {"base_model_name_or_path": "models/base"})
    )
    ours = json.loads((adapter / "lsa_whisper.json").read_text())
    del ours["base"]
    (adapter / "lsa_whisper.json").write_text(json.dumps(ours))
    assert checkpoint.load(adapter).model is not None
    shutil.rmtree(project / "models")
    with pytest.raises(CheckpointError, match=r"base model models/base does not exist; .*to where it is now"):
        checkpoint.load(adapter)


def test_a_base_with_other_weights_is_not_used(project):
    loaded = checkpoint.load(project / "models/base")
    with torch.no_grad():
        loaded.model.model.encoder.layer_norm.bias.add_(1)
    loaded.model.save_pretrained(project / "models/base")
    with pytest.raises(CheckpointError, match="has other weights than the one it was trained on"):
        checkpoint.load(project / "runs/lora")
    with pytest.raises(CheckpointError, match="has other weights"):
        checkpoint.digest(project / "runs/lora")


def test_the_settings_of_a_base_may_change(project):
    """``choose-heads`` writes into them."""
    path = project / "models/base/generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"alignment_heads": [[0, 0]]}))
    assert checkpoint.load(project / "runs/lora").model is not None
