"""ZeRO on a CPU: no rank holds the whole model, weights are kept in fp32, and a stopped run forgets nothing.

That it trains and saves as one plain process does is in ``test_parity.py``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import shutil

import pytest
import torch
from rank_work import run_ranks, train_and_watch_loading
from safetensors.torch import load_file
from training_run import StoppedError, stopped_at

from benchmarks import parity
from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.distributed.zero import deepspeed_config, require_deepspeed
from lsa_whisper.finetuning.memory import Hardware
from lsa_whisper.finetuning.memory.plan import TrainingJob
from lsa_whisper.finetuning.recipe import AdapterSettings, OffloadSettings, parse_recipe
from lsa_whisper.finetuning.training.trainer import SpeechTrainer
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch
from lsa_whisper.finetuning.workload.shape import SHAPES
from lsa_whisper.system.machine import GIB

needs_deepspeed = pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    return parity.prepare(tmp_path_factory.mktemp("zero"))


@pytest.mark.slow
@needs_deepspeed
@pytest.mark.parametrize("place", ["none", "cpu"])
@pytest.mark.parametrize("adapter", parity.ADAPTERS)
def test_stopped_and_called_again_equals_undisturbed(recipe, adapter, place, monkeypatch):
    """Two more steps at least are taken after going on: the first is right even with an optimizer that forgot."""
    parity.build_here(monkeypatch.setenv)
    settings = [*parity.ZERO3, *parity.ADAPTERS[adapter], f"offload.optimizer={place}"]
    settings += ["training.max_steps=6", "training.save_strategy=steps"]
    whole, cut = (recipe.parent / f"{name}-{adapter}-{place}" for name in ("whole", "cut"))
    finetune(recipe, set=[*settings, "training.save_steps=100"], out=whole, report=lambda _: None)
    with pytest.raises(StoppedError):
        finetune(recipe, set=[*settings, "training.save_steps=3"], out=cut, report=stopped_at(5))
    lines = []
    finetune(recipe, set=[*settings, "training.save_steps=3"], out=cut, report=lines.append)
    assert any("resuming from" in line and line.endswith("checkpoint-3") for line in lines)
    assert len(parity.losses(whole)) == 6
    assert parity.losses(cut) == pytest.approx(parity.losses(whole), abs=1e-6)


@pytest.mark.slow
@needs_deepspeed
def test_another_number_of_processes_is_one_sentence(recipe, monkeypatch):
    parity.build_here(monkeypatch.setenv)
    settings = [*parity.ZERO3, "training.max_steps=4", "training.save_strategy=steps", "training.save_steps=1"]
    out = recipe.parent / "ranks"
    with pytest.raises(StoppedError):
        finetune(recipe, set=settings, out=out, report=stopped_at(2))
    mark = out.with_name("ranks.unfinished") / "checkpoint-1" / "complete.json"
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"processes": 2}))
    with pytest.raises(RecipeError, match=r"saved by 2 processes, .* this run has 1; resume with --processes 2"):
        finetune(recipe, set=settings, out=out, report=lambda _: None)


@needs_deepspeed
def test_settings_of_ones_own_lie_over_ours():
    text = "{data: {train: t}, out: o, model: {base: m}, strategy: zero3}"
    recipe = parse_recipe(text, set=["deepspeed.zero_optimization.overlap_comm=true", "deepspeed.steps_per_print=5"])
    found = deepspeed_config(3, OffloadSettings("cpu"), recipe.deepspeed)
    assert found["zero_optimization"]["overlap_comm"] is True and found["steps_per_print"] == 5
    assert found["zero_optimization"]["offload_optimizer"]["device"] == "cpu"


@needs_deepspeed
def test_nvme_without_a_compiler_is_one_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    text = "{data: {train: t}, out: o, model: {base: m}, strategy: zero3, offload: {optimizer: nvme, nvme_path: /fast}}"
    with pytest.raises(RecipeError, match="install g\\+\\+, ninja and libaio-dev"):
        require_deepspeed(parse_recipe(text))


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
@needs_deepspeed
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


@pytest.mark.slow
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


def elements():
    """How many elements the tensors of this process have."""
    gc.collect()
    return sum(each.numel() for each in gc.get_objects() if type(each) in (torch.Tensor, torch.nn.Parameter))


@pytest.mark.slow
@needs_deepspeed
@pytest.mark.parametrize("fails", [False, True], ids=["ends", "fails"])
@pytest.mark.parametrize("strategy", ["zero2", "zero3"])
def test_a_run_leaves_no_tensors_in_the_process(windows, scratch_recipe, tmp_path, strategy, fails):
    """A notebook, or a run that begins again with smaller micro-batches, would find the memory full."""
    (tmp_path / "r.yaml").write_text(scratch_recipe(windows, tmp_path / "out"))
    before = elements()
    with pytest.raises(StoppedError) if fails else contextlib.nullcontext():
        report = stopped_at(2) if fails else lambda _: None
        finetune(tmp_path / "r.yaml", set=[f"strategy={strategy}"], report=report)
    assert elements() - before < 10_000
