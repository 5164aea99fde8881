from __future__ import annotations

import importlib
import os
import time
from pathlib import Path

import pytest
import torch

from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.memory import Hardware, Resources
from lsa_whisper.finetuning.strategies import check_processes, strategy_of
from lsa_whisper.finetuning.training.memory_limits import out_of_memory_advice, preflight, with_smaller_micro_batch
from lsa_whisper.system.machine import is_out_of_memory

launching = importlib.import_module("lsa_whisper.finetuning.distributed.launch")
TINY = "{data: {train: t.jsonl}, out: o, model: {base: openai/whisper-tiny}, training: {use_cpu: true}}"
PLENTY = Resources(Hardware(0, 0.0, 500, 500))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "extensions"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "extensions"


def test_a_run_reports_its_memory(cache):
    lines = []
    preflight(recipes.parse_recipe(TINY), lines.append, PLENTY)
    assert len(lines) == 1 and "GiB of host memory" in lines[0]


def test_a_stale_lock_stops_deepspeed_before_it_hangs(cache):
    (cache / "cpu_adam").mkdir(parents=True)
    lock = cache / "cpu_adam" / "lock"
    lock.touch()
    os.utime(lock, (time.time() - 7200,) * 2)
    recipe = recipes.parse_recipe(TINY, set=["strategy=zero3"])
    with pytest.raises(RecipeError, match=rf"build locks: .*rm '{lock}'"):
        preflight(recipe, print, PLENTY)
    preflight(recipes.parse_recipe(TINY), lambda _: None, PLENTY)  # who does not compile does not care


def test_the_swap_folder_is_written_to_and_measured(cache, tmp_path):
    swap = tmp_path / "swap"
    recipe = recipes.parse_recipe(TINY, set=["strategy=zero3", "offload.optimizer=nvme", f"offload.nvme_path={swap}"])
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
        "lsa_whisper.finetuning.memory.available_memory_gib", lambda: 0.25
    )  # a machine that cannot be had for a test
    (tmp_path / "r.yaml").write_text(
        scratch_recipe(windows, tmp_path / "out", training="").replace("steps: 4", "steps: 1")
    )
    with pytest.raises(RecipeError, match=r"GiB of host memory \(0\.2 free\)"):
        finetune(tmp_path / "r.yaml", report=lambda _: None)
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.unfinished").exists()
    assert finetune(tmp_path / "r.yaml", report=lambda _: None, force=True).steps == 1


@pytest.mark.parametrize("force", [False, True])
def test_force_and_the_folder_reach_the_processes_of_a_run(force, tmp_path, monkeypatch):
    """Also a folder whose name YAML would cut at a comment, or read as a number."""
    from lsa_whisper.cli import training

    (tmp_path / "t.jsonl").touch()
    (tmp_path / "r.yaml").write_text(TINY.replace("t.jsonl", str(tmp_path / "t.jsonl")))
    out = tmp_path / "study #2" / "2024"
    out.parent.mkdir()

    class Started(Exception):  # noqa: N818
        pass

    def start(words, processes, logs):
        raise Started(words)

    monkeypatch.setattr(launching, "_start", start)
    with pytest.raises(Started) as started:
        finetune(tmp_path / "r.yaml", processes=2, out=out, force=force)
    _, *words = started.value.args[0]
    given = training.finetune.make_context("finetune", list(words)).params
    assert given["force"] is force and recipes.read_recipe(Path(given["source"]), set=given["set"]).out == str(out)


def test_the_demo_names_its_folders_so_that_they_are_read_again():
    said = [f"out={recipes.quote_override('2024')}", f"model.base={recipes.quote_override('study #2')}"]
    recipe = recipes.parse_recipe(TINY, set=said)
    assert (recipe.out, recipe.model.base) == ("2024", "study #2")


def test_processes_that_cannot_train_together_are_rejected(monkeypatch):
    recipe = recipes.parse_recipe(TINY, set=["training.use_cpu=false", "auto_micro_batch=true"])
    check_processes(recipe, 1)
    with pytest.raises(RecipeError, match="auto_micro_batch: one rank cannot restart alone"):
        check_processes(recipe, 2)
    with pytest.raises(RecipeError, match="--processes: 1 or more, not 0"):
        check_processes(recipe, 0)
    recipe = recipes.with_overrides(recipe, ["auto_micro_batch=false"])
    check_processes(recipe, 2)  # no GPU: the processor serves any number
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    check_processes(recipe, 2)
    with pytest.raises(
        RecipeError, match="--processes 3: each process needs a GPU, and there are 2; use --processes 2"
    ):
        check_processes(recipe, 3)
    check_processes(recipes.with_overrides(recipe, ["training.use_cpu=true"]), 3)


def test_advice_names_the_cheapest_change_first():
    recipe = recipes.parse_recipe(
        TINY, set=["training.per_device_train_batch_size=6", "training.gradient_accumulation_steps=2"]
    )
    said = out_of_memory_advice(recipe)
    assert (
        said.index("per_device_train_batch_size=3") < said.index("gradient_checkpointing=true") < said.index("adapter")
    )
    assert "gradient_accumulation_steps=4" in said
    resumes = said.index("the same command then resumes from the last checkpoint")
    assert said.index("gradient_checkpointing=true") < resumes < said.index("start over with an adapter")
    swapping = recipes.with_overrides(recipe, ["strategy=zero3", "offload.optimizer=nvme", "offload.nvme_path=s"])
    assert "resumes" not in out_of_memory_advice(swapping)
    least = ["adapter.rank=16", "training.gradient_checkpointing=true", "training.per_device_train_batch_size=1"]
    assert out_of_memory_advice(recipes.with_overrides(recipe, least)).endswith(
        "or start over with a smaller model, or an adapter of lower rank"
    )
    assert with_smaller_micro_batch(recipes.parse_recipe(TINY, set=["training.per_device_train_batch_size=1"])) is None


def test_errors_that_mean_out_of_memory():
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory")) and is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("CUDA failed with error out of memory"))  # CTranslate2's
    with pytest.raises(RuntimeError) as refused:
        torch.empty(2**60)
    assert is_out_of_memory(refused.value)
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


@pytest.fixture
def no_room_for_more_than_one_window(monkeypatch):
    """Memory that holds one window: a larger batch fails as it does on a GPU."""
    from lsa_whisper.finetuning.training import trainer

    ours = trainer.SpeechTrainer.training_step

    def step(self, model, inputs, *rest):
        if len(inputs["labels"]) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")
        return ours(self, model, inputs, *rest)

    monkeypatch.setattr(trainer.SpeechTrainer, "training_step", step)


@pytest.mark.slow
def test_auto_micro_batch_takes_the_same_steps(windows, scratch_recipe, tmp_path, request):
    (tmp_path / "a.yaml").write_text(scratch_recipe(windows, tmp_path / "a"))
    whole = finetune(tmp_path / "a.yaml", report=lambda _: None)
    request.getfixturevalue("no_room_for_more_than_one_window")
    (tmp_path / "b.yaml").write_text(scratch_recipe(windows, tmp_path / "b"))
    with pytest.raises(RecipeError, match="out of memory with batch 2"):
        finetune(tmp_path / "b.yaml", report=lambda _: None)
    lines = []
    cut = finetune(tmp_path / "b.yaml", set=["auto_micro_batch=true"], report=lines.append)
    assert "out of memory; resuming with micro-batches of 1 and 2 accumulation steps" in lines
    assert cut.steps == whole.steps
    states = [checkpoint.load(done.out).model.state_dict() for done in (whole, cut)]
    torch.testing.assert_close(states[0], states[1], rtol=0, atol=1e-5)
    again = []
    finetune(tmp_path / "b.yaml", set=["auto_micro_batch=true"], report=again.append)
    assert again == [f"{tmp_path / 'b'}: already trained with this recipe and these data"]


def test_a_swap_folder_that_cannot_be_written_is_refused_even_by_force():
    pytest.importorskip("deepspeed")
    recipe = recipes.parse_recipe(TINY, set=["strategy=zero3", "offload.optimizer=nvme", "offload.nvme_path=/proc/x"])
    with pytest.raises(RecipeError, match=r"offload\.nvme_path: /proc/x: .*; choose a folder you may write to$"):
        strategy_of(recipe).check_requirements(recipe)
