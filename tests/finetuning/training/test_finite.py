"""A run whose numbers stop being numbers ends with a sentence, and its last good state stays."""

from __future__ import annotations

import importlib.util
import types

import pytest
import torch

from benchmarks import parity
from lsa_whisper import checkpoint
from lsa_whisper.checkpoint.saving import verify_tensors
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.finite import MAX_SKIPPED, FiniteSteps

RECIPE = "{data: {train: t}, out: o, model: {base: m}}"
STATE = types.SimpleNamespace(global_step=6)


def take(watch, loss, norm=1.0):
    watch.add_loss(torch.tensor(loss))
    watch.recorded_norm(lambda: torch.tensor(norm))()
    watch.on_pre_optimizer_step(None, STATE, None)


def test_a_run_that_diverges_stops_and_keeps_its_last_good_state(windows, scratch_recipe, tmp_path):
    path, out, lines = tmp_path / "r.yaml", tmp_path / "out", []
    path.write_text(scratch_recipe(windows, out))
    with pytest.raises(RecipeError, match=r"step [234]: the (loss|gradient) is .*learning_rate.*1e\+30.*checkpoint-1 "):
        finetune(path, set=["training.learning_rate=1e30"], report=lines.append)
    assert not out.exists() and not any("loss 0.0000" in line for line in lines)
    (kept,) = out.with_name("out.unfinished").glob("checkpoint-*")
    verify_tensors(kept)


@pytest.mark.parametrize(("loss", "norm"), [(float("nan"), 1.0), (float("inf"), 1.0), (2.0, float("inf")), (2.0, -1.0)])
def test_the_first_step_that_is_not_finite_is_named(tmp_path, loss, norm):
    watch = FiniteSteps(parse_recipe(RECIPE, set=["precision=bf16"]), tmp_path, print)
    take(watch, 2.0)
    with pytest.raises(RecipeError, match="step 7: the"):
        take(watch, loss, norm)


def test_a_step_that_deepspeed_discards_is_no_better(tmp_path):
    """Its norm is the last one that was finite."""
    watch = FiniteSteps(parse_recipe(RECIPE, set=["precision=bf16"]), tmp_path, print)
    watch.add_loss(torch.tensor(2.0))
    with pytest.raises(RecipeError, match="step 7: the gradient is not finite"):
        watch.on_pre_optimizer_step(None, STATE, None, optimizer=types.SimpleNamespace(step_was_overflow=True))


@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")
def test_a_run_under_zero_that_diverges_stops_too(tmp_path, monkeypatch):
    parity.build_here(monkeypatch.setenv)
    settings = [*parity.ZERO3, "precision=bf16", "training.learning_rate=1e30"]
    with pytest.raises(
        RecipeError, match=r"step [234]: the (loss|gradient) is .*checkpoint-1 holds the last good state"
    ):
        finetune(parity.prepare(tmp_path), set=settings, out=tmp_path / "out", force=True, report=lambda _: None)


def test_steps_that_fp16_skips_are_not_an_error_unless_it_never_recovers(tmp_path):
    lines = []
    watch = FiniteSteps(parse_recipe(RECIPE, set=["precision=fp16"]), tmp_path, lines.append)
    for _ in range(MAX_SKIPPED):
        take(watch, 2.0, float("inf"))
    take(watch, 2.0)
    assert watch.skipped == 0
    watch.on_log(None, STATE, None)
    watch.on_log(None, STATE, None)
    assert lines == [f"fp16: {MAX_SKIPPED} steps overflowed and were skipped; each halves the loss scale"]
    for _ in range(MAX_SKIPPED):
        take(watch, float("nan"), float("nan"))
    with pytest.raises(RecipeError, match="at every loss scale, so training has stopped; use precision: bf16"):
        take(watch, float("nan"), float("nan"))


def test_weights_that_are_not_numbers_are_not_saved(windows, scratch_recipe, tmp_path):
    (tmp_path / "r.yaml").write_text(scratch_recipe(windows, tmp_path / "out"))
    start = checkpoint.load(finetune(tmp_path / "r.yaml", report=lambda _: None).out)
    with torch.no_grad():
        start.model.model.decoder.layers[0].fc1.weight[0, 0] = float("nan")
    parts = {"feature_extractor": start.feature_extractor, "tokenizer": start.tokenizer, "labels": start.labels}
    with pytest.raises(CheckpointError, match=r"not numbers \(model\.decoder\.layers\.0\.fc1\.weight\)"):
        checkpoint.save(tmp_path / "broken", model=start.model, **parts)
    assert not (tmp_path / "broken").exists()
