from __future__ import annotations

import os
import time

import pytest
import torch

from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune import finetune
from lsa_whisper.finetune import recipe as recipes
from lsa_whisper.finetune.memory import Limits, Resources
from lsa_whisper.finetune.memory.shortage import advice, is_shortage, smaller
from lsa_whisper.finetune.preflight import preflight

TINY = "{data: {train: t.jsonl}, out: o, model: {base: openai/whisper-tiny}, training: {use_cpu: true}}"
PLENTY = Resources(Limits(0, 0.0, 500, 500))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "extensions"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "extensions"


def test_a_plain_run_says_what_it_needs(cache):
    lines = []
    preflight(recipes.parse(TINY), lines.append, PLENTY)
    assert len(lines) == 1 and "GiB of host memory" in lines[0]


def test_a_stale_lock_stops_deepspeed_before_it_hangs(cache):
    (cache / "cpu_adam").mkdir(parents=True)
    lock = cache / "cpu_adam" / "lock"
    lock.touch()
    os.utime(lock, (time.time() - 7200,) * 2)
    recipe = recipes.parse(TINY, set=["strategy=zero3"])
    with pytest.raises(RecipeError, match=rf"build locks: .*rm '{lock}'"):
        preflight(recipe, print, PLENTY)
    preflight(recipes.parse(TINY), lambda _: None, PLENTY)  # who does not compile does not care


def test_the_swap_folder_is_written_to_and_measured(cache, tmp_path):
    swap = tmp_path / "swap"
    recipe = recipes.parse(TINY, set=["strategy=zero3", "offload.optimizer=nvme", f"offload.path={swap}"])
    try:
        preflight(recipe, lambda _: None, PLENTY)
    except RecipeError as lacking:
        assert "libaio-dev" in str(lacking)
    assert list(swap.iterdir()) == []
    swap.rmdir()
    swap.write_text("not a folder")
    with pytest.raises(RecipeError, match=r"writing: .*swap: Not a directory"):
        preflight(recipe, lambda _: None, PLENTY)


def test_finetune_refuses_and_force_overrides(windows, scratch_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "lsa_whisper.finetune.memory.check.available_memory_gib", lambda: 0.25
    )  # a machine that cannot be had for a test
    (tmp_path / "r.yaml").write_text(
        scratch_recipe(windows, tmp_path / "out", training="").replace("steps: 4", "steps: 1")
    )
    with pytest.raises(RecipeError, match=r"GiB of host memory, of which 0\.2 are free"):
        finetune(tmp_path / "r.yaml", say=lambda _: None)
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.unfinished").exists()
    assert finetune(tmp_path / "r.yaml", say=lambda _: None, force=True).steps == 1


def test_force_reaches_the_processes_of_a_run():
    from lsa_whisper.cli import training
    from lsa_whisper.finetune import _FORCE

    assert training.FORCE == _FORCE
    assert training.finetune.make_context("finetune", ["r.yaml"]).params["force"] is False
    assert training.finetune.make_context("finetune", ["r.yaml", "--force"]).params["force"] is True


def test_advice_names_the_cheapest_change_first():
    recipe = recipes.parse(
        TINY, set=["training.per_device_train_batch_size=6", "training.gradient_accumulation_steps=2"]
    )
    said = advice(recipe)
    assert (
        said.index("per_device_train_batch_size=3") < said.index("gradient_checkpointing=true") < said.index("adapter")
    )
    assert "gradient_accumulation_steps=4" in said
    assert smaller(recipes.parse(TINY, set=["training.per_device_train_batch_size=1"])) is None


def test_what_is_a_shortage():
    assert is_shortage(torch.OutOfMemoryError("CUDA out of memory")) and is_shortage(MemoryError())
    with pytest.raises(RuntimeError) as refused:
        torch.empty(2**60)
    assert is_shortage(refused.value)
    assert not is_shortage(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


@pytest.fixture
def no_room_for_more_than_one_window(monkeypatch):
    """Memory that holds one window: a larger batch fails as it does on a GPU."""
    from lsa_whisper.finetune import trainer

    ours = trainer.SpeechTrainer.training_step

    def step(self, model, inputs, *rest):
        if len(inputs["labels"]) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")
        return ours(self, model, inputs, *rest)

    monkeypatch.setattr(trainer.SpeechTrainer, "training_step", step)


def test_auto_micro_batch_takes_the_same_steps(windows, scratch_recipe, tmp_path, request):
    (tmp_path / "a.yaml").write_text(scratch_recipe(windows, tmp_path / "a"))
    whole = finetune(tmp_path / "a.yaml", say=lambda _: None)
    request.getfixturevalue("no_room_for_more_than_one_window")
    (tmp_path / "b.yaml").write_text(scratch_recipe(windows, tmp_path / "b"))
    with pytest.raises(RecipeError, match="out of memory with batch 2"):
        finetune(tmp_path / "b.yaml", say=lambda _: None)
    lines = []
    cut = finetune(tmp_path / "b.yaml", set=["auto_micro_batch=true"], say=lines.append)
    assert "out of memory; going on with micro-batches of 1, 2 for each step" in lines
    assert cut.steps == whole.steps
    states = [checkpoint.load(done.out).model.state_dict() for done in (whole, cut)]
    torch.testing.assert_close(states[0], states[1], rtol=0, atol=1e-5)
    again = []
    finetune(tmp_path / "b.yaml", set=["auto_micro_batch=true"], say=again.append)
    assert again == [f"{tmp_path / 'b'} is already trained with this recipe and these data"]
