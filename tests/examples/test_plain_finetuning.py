"""The example in plain torch takes the steps of the command: the same windows, order, losses and weights."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch
import yaml
from transformers import WhisperForConditionalGeneration

from benchmarks import parity
from lsa_whisper.finetuning import finetune

EXAMPLE = Path(__file__).parents[2] / "examples" / "plain_finetuning.py"
TRAINING = {"use_cpu": True, "max_steps": 6, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 2}
TRAINING |= {"lr_scheduler_type": "cosine", "weight_decay": 0.1, "learning_rate": 1e-3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parity.prepare(tmp_path_factory.mktemp("plain")).parent


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("plain_finetuning", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("warmup", [1, 0.2])
@pytest.mark.parametrize("adapter", [None, {"rank": 16}], ids=["full", "lora"])
def test_losses_are_those_of_the_command(folder, example, tmp_path, adapter, warmup):
    """Two epochs of three steps of two micro-batches."""
    recipe = {"data": {"train": str(folder / "train.jsonl")}, "model": {"base": str(folder / "base/model")}, "seed": 3}
    recipe |= {"out": str(tmp_path / "plain"), "adapter": adapter, "training": TRAINING | {"warmup_steps": warmup}}
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe))
    losses = list(example.train(example.read_recipe(path)))
    finetune(path, set=["training.logging_steps=1"], out=tmp_path / "command", report=lambda _: None)
    assert losses == pytest.approx(parity.losses(tmp_path / "command"), abs=1e-5)
    if adapter is None:
        command, plain = (
            WhisperForConditionalGeneration.from_pretrained(tmp_path / name).state_dict()
            for name in ("command", "plain")
        )
        for name, value in command.items():
            torch.testing.assert_close(plain[name], value, atol=1e-4, rtol=1e-3)


def test_it_is_short_and_needs_no_package_of_ours():
    text = EXAMPLE.read_text()
    assert len(text.splitlines()) <= 150 and "import lsa_whisper" not in text and "from lsa_whisper" not in text
