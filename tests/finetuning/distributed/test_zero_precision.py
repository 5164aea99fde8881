"""DeepSpeed trains and saves fp32 weights in 16-bit precision too: what is rounded is computed, not kept."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from safetensors.torch import load_file

from benchmarks import parity
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.distributed.zero import deepspeed_config
from lsa_whisper.finetuning.recipe import OffloadSettings
from lsa_whisper.finetuning.training.trainer import SpeechTrainer

needs_deepspeed = pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    return parity.prepare(tmp_path_factory.mktemp("precision"))


@needs_deepspeed
@pytest.mark.parametrize("stage", [parity.ZERO3, ("strategy=zero2",)], ids=["zero3", "zero2"])
def test_weights_are_not_rounded_and_times_neither(recipe, stage, monkeypatch):
    """Without a learning rate the saved weights are the very ones of the base, and 0.123 s stays 0.123 s."""
    parity.build_here(monkeypatch.setenv)
    seen = []
    step = SpeechTrainer.training_step

    def look(trainer, model, inputs, *given):
        times = trainer.batch_on_device({"token_spans_s": torch.tensor([0.123, 29.99])})["token_spans_s"]
        seen.append((times.tolist(), inputs["input_features"].dtype, model.optimizer.gradient_accumulation_dtype))
        return step(trainer, model, inputs, *given)

    monkeypatch.setattr(SpeechTrainer, "training_step", look)
    settings = [*stage, "precision=bf16", "training.learning_rate=0", "training.max_steps=1"]
    out = finetune(recipe, set=settings, out=recipe.parent / stage[0], report=lambda _: None).out
    assert seen == [(torch.tensor([0.123, 29.99]).tolist(), torch.float32, torch.float32)]
    before, after = (load_file(folder / "model.safetensors") for folder in (recipe.parent / "base" / "model", out))
    assert after.keys() == before.keys() and "proj_out.weight" not in after  # one matrix, in the file once
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert any((weight != weight.bfloat16()).any() for weight in after.values())


@pytest.mark.parametrize(("precision", "dtype"), [("bf16", "bfloat16"), ("fp16", "float16"), ("fp32", None)])
def test_autocast_computes_in_16_bits(precision, dtype):
    settings = deepspeed_config(3, OffloadSettings(), precision=precision)
    assert not settings["bf16"]["enabled"] and not settings["fp16"]["enabled"]
    assert settings.get("torch_autocast", {}).get("dtype") == dtype
