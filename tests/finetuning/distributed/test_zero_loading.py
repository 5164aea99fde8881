"""Loading under ZeRO-3: one rank reads one weight after the other, and no rank holds the whole model."""

from __future__ import annotations

import importlib.util
import json

import pytest
import torch
from rank_work import run_ranks, train_and_watch_loading

from benchmarks import parity
from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning.memory import SHAPES, Hardware, TrainingConfiguration, TrainingJob
from lsa_whisper.finetuning.memory.activations import MicroBatch
from lsa_whisper.finetuning.recipe import AdapterSettings, OffloadSettings
from lsa_whisper.system.machine import GIB


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    return parity.prepare(tmp_path_factory.mktemp("loading"))


def test_weights_that_are_read_one_at_a_time_are_those_of_the_model(recipe):
    base = recipe.parent / "base" / "model"
    whole, later = checkpoint.load(base).model, checkpoint.load(base, weights=False)
    assert sum(weight.untyped_storage().nbytes() for weight in later.model.parameters()) < 1000
    expected = dict(whole.named_parameters())
    for name, weight in later.model.named_parameters():
        assert weight in later.unread
        torch.testing.assert_close(later.unread.read(weight), expected[name].detach(), rtol=0, atol=0)
    assert later.model.proj_out.weight is later.model.get_input_embeddings().weight
    assert later.model.name_or_path == str(base) and torch.nn.Parameter(torch.ones(1)) not in later.unread


def test_weights_of_another_shape_are_one_sentence(recipe):
    later = checkpoint.load(recipe.parent / "base" / "model", weights=False)
    weight = later.model.model.encoder.layer_norm.weight
    weight.data = weight.data[:-1]
    with pytest.raises(CheckpointError, match=r"layer_norm.weight has the shape \(96,\), not \(95,\)"):
        later.unread.read(weight)


def test_the_plan_counts_loading():
    def host_gib(strategy, gpus, **settings):
        job = TrainingJob(SHAPES["large-v3"], Hardware(gpus))
        return job.plan(TrainingConfiguration(strategy, **settings), MicroBatch()).host_gib - 3.0 * gpus

    whole = 4 * SHAPES["large-v3"].parameters / GIB
    assert host_gib("ddp", 4) > 4 * whole
    assert host_gib("zero3", 4) == pytest.approx(whole, rel=0.01)  # gathered once to be saved
    assert host_gib("zero3", 4, adapter=AdapterSettings(dora=True)) == pytest.approx(1.5 * whole, rel=0.1)
    parts = OffloadSettings(parameters="cpu")
    pinned = 1.25 * whole  # in parts, besides what is gathered
    assert host_gib("zero3", 4, offload=parts) == pytest.approx(whole + pinned, rel=0.01)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")
def test_no_rank_holds_the_whole_model_and_one_reads_it(recipe, monkeypatch):
    parity.build_here(monkeypatch.setenv)
    settings = [*parity.ZERO3, "training.max_steps=1", "training.per_device_train_batch_size=2"]
    every = {name: [*settings, *more] for name, more in parity.ADAPTERS.items()}
    run_ranks(train_and_watch_loading, 2, recipe, every)
    for name in every:
        ranks = [json.loads((recipe.parent / f"{name}-{rank}.json").read_text()) for rank in range(2)]
        for rank, found in enumerate(ranks):
            assert found["left"] == 0
            assert found["kept"] == pytest.approx(found["whole"] / 2, rel=0.01)  # padded to equal parts
            assert found["peak"] < 0.75 * found["whole"], (name, found)
            assert found["moved"] < found["whole"] / 4
            assert found["read"] > 0.7 * found["whole"] if rank == 0 else found["read"] == 0
        assert len(parity.losses(recipe.parent / name)) == 1
