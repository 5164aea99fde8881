"""The real DeepSpeed on a CPU: what ZeRO-3 had learned when it was stopped, wherever it kept it, is not lost.

That it trains and saves as one plain process does is in ``test_parity.py``.
"""

from __future__ import annotations

import importlib.util
import json
import shutil

import pytest

from benchmarks import parity
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.distributed import zero
from lsa_whisper.finetuning.recipe import OffloadSettings, parse_recipe

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed"),
]


class StoppedError(Exception):
    pass


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    return parity.prepare(tmp_path_factory.mktemp("zero"))


@pytest.mark.parametrize("place", ["none", "cpu"])
@pytest.mark.parametrize("adapter", parity.ADAPTERS)
def test_stopped_and_called_again_equals_undisturbed(recipe, adapter, place, monkeypatch):
    """Two more steps at least are taken after going on: the first is right even with an optimizer that forgot."""
    parity.build_here(monkeypatch.setenv)
    settings = [*parity.ZERO3, *parity.ADAPTERS[adapter], f"offload.optimizer={place}"]
    settings += ["training.max_steps=6", "training.save_strategy=steps"]
    whole, cut = (recipe.parent / f"{name}-{adapter}-{place}" for name in ("whole", "cut"))

    def stop_at_five(line):
        if line.startswith("step 5/"):
            raise StoppedError

    finetune(recipe, set=[*settings, "training.save_steps=100"], out=whole, report=lambda _: None)
    with pytest.raises(StoppedError):
        finetune(recipe, set=[*settings, "training.save_steps=3"], out=cut, report=stop_at_five)
    lines = []
    finetune(recipe, set=[*settings, "training.save_steps=3"], out=cut, report=lines.append)
    assert any("resuming from" in line and line.endswith("checkpoint-3") for line in lines)
    assert len(parity.losses(whole)) == 6
    assert parity.losses(cut) == pytest.approx(parity.losses(whole), abs=1e-6)


def test_another_number_of_processes_is_one_sentence(recipe, monkeypatch):
    parity.build_here(monkeypatch.setenv)
    settings = [*parity.ZERO3, "training.max_steps=4", "training.save_strategy=steps", "training.save_steps=1"]

    def stop(line):
        if line.startswith("step 2/"):
            raise StoppedError

    out = recipe.parent / "ranks"
    with pytest.raises(StoppedError):
        finetune(recipe, set=settings, out=out, report=stop)
    mark = out.with_name("ranks.unfinished") / "checkpoint-1" / "complete.json"
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"processes": 2}))
    with pytest.raises(RecipeError, match=r"saved by 2 processes, .* this run has 1; resume with --processes 2"):
        finetune(recipe, set=settings, out=out, report=lambda _: None)


def test_settings_of_ones_own_lie_over_ours():
    text = "{data: {train: t}, out: o, model: {base: m}, strategy: zero3}"
    recipe = parse_recipe(text, set=["deepspeed.zero_optimization.overlap_comm=true", "deepspeed.steps_per_print=5"])
    found = zero.deepspeed_config(3, OffloadSettings("cpu"), recipe.deepspeed)
    assert found["zero_optimization"]["overlap_comm"] is True and found["steps_per_print"] == 5
    assert found["zero_optimization"]["offload_optimizer"]["device"] == "cpu"


def test_nvme_without_a_compiler_is_one_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    text = "{data: {train: t}, out: o, model: {base: m}, strategy: zero3, offload: {optimizer: nvme, nvme_path: /fast}}"
    with pytest.raises(RecipeError, match="install g\\+\\+, ninja and libaio-dev"):
        zero.require_deepspeed(parse_recipe(text))
