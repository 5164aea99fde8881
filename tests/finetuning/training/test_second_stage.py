"""A second stage on an adapter: stacked on the merged first one, or the same adapter trained further."""

from __future__ import annotations

import json

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune


@pytest.fixture(scope="module")
def first(windows, tmp_path_factory):
    """The recipe's text and the folder of a first stage."""
    folder = tmp_path_factory.mktemp("first")
    base = build_checkpoint(folder / "base")
    text = f"""
data: {{train: {windows}}}
out: {folder / "group"}
model: {{base: {base}}}
adapter: {{rank: 12, alpha: 24}}
training: {{use_cpu: true, max_steps: 2, per_device_train_batch_size: 2, learning_rate: 1e-2}}
"""
    (folder / "recipe.yaml").write_text(text, "utf-8")
    finetune(folder / "recipe.yaml", report=print)
    return folder


def weight(folder):
    model = checkpoint.load(folder).model
    return model.model.decoder.layers[0].self_attn.q_proj.weight.detach()


def second(first, name, *overrides):
    settings = [f"model.base={first / 'group'}", *overrides]
    return finetune(first / "recipe.yaml", set=settings, out=first / name, report=print).out


@pytest.mark.slow
def test_a_stacked_adapter_contains_the_first_one(first):
    before, base = weight(first / "group"), weight(first / "base" / "model")
    assert not torch.allclose(before, base)
    still = second(first, "still", "training.learning_rate=0")
    torch.testing.assert_close(weight(still), before, atol=1e-6, rtol=1e-5)
    moved = weight(second(first, "speaker"))
    assert not torch.allclose(moved, before)
    assert (first / "group" / "merged" / "model.safetensors").is_file()
    written = (first / "group" / "merged" / "model.safetensors").stat().st_mtime_ns
    second(first, "other-speaker", "seed=1")
    assert (first / "group" / "merged" / "model.safetensors").stat().st_mtime_ns == written


@pytest.mark.slow
def test_a_continued_adapter_is_the_same_one_trained_further(first):
    still = second(first, "kept", "adapter.second_stage=continue", "training.learning_rate=0")
    torch.testing.assert_close(weight(still), weight(first / "group"), atol=1e-6, rtol=1e-5)
    settings = [json.loads((folder / "adapter_config.json").read_text()) for folder in (still, first / "group")]
    assert settings[0]["r"] == settings[1]["r"] == 12
    moved = second(first, "further", "adapter.second_stage=continue")
    assert not torch.allclose(weight(moved), weight(first / "group"))


def test_a_continued_adapter_keeps_its_settings(first):
    with pytest.raises(RecipeError, match="has rank 12, not 16; set the same, or stack"):
        second(first, "wider", "adapter.second_stage=continue", "adapter.rank=16")
