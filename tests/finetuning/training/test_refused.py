"""Recipes and data that end in one sentence before any weights are loaded, and what is only remarked."""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil

import pytest
from safetensors.torch import load_file, save_file
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint, manifest
from lsa_whisper.errors import ManifestError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.distributed.launch import thread_environment
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training import model
from lsa_whisper.finetuning.training.data_check import check_data
from lsa_whisper.system import machine


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("base"), languages=("en", "es"))


@pytest.fixture
def run(base, windows, tmp_path, monkeypatch):
    """Run a recipe that must end before its weights are read."""

    def no_weights(*_, **__):
        raise AssertionError("weights were loaded")

    def start(*settings, data=windows, text="", out=None, weights=False):
        if not weights:
            monkeypatch.setattr("lsa_whisper.finetuning.training.run.starting_checkpoint", no_weights)
        path = tmp_path / "r.yaml"
        path.write_text(
            f"data: {{train: {data}}}\nout: {out or tmp_path / 'out'}\nmodel: {{base: {base}}}\n{text}\n"
            "training: {use_cpu: true, max_steps: 2, per_device_train_batch_size: 2}\n"
        )
        lines = []
        finetune(path, set=settings, report=lines.append)
        return lines

    return start


def changed(windows, folder, **fields):
    """The windows with other values in their second row."""
    rows = list(manifest.read(windows))
    rows[1] = dataclasses.replace(rows[1], **fields)
    manifest.write(rows, folder / "changed.jsonl")
    return folder / "changed.jsonl"


def test_an_empty_dev_set_is_not_to_be_prepared_again(run, tmp_path):
    """A corpus of one person has none, however often it is prepared."""
    (tmp_path / "dev.jsonl").write_text("")
    with pytest.raises(
        ManifestError, match=r"dev\.jsonl: holds no windows; name another dev set.* leave evaluation out"
    ):
        run(f"data.dev={tmp_path / 'dev.jsonl'}", "evaluation.every_steps=1")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"text": "<|0.10|>oh.<|99.98|>"}, r"row 2: the time <\|99\.98\|>, but the model's context is 8 s"),
        ({"text": "<|0.01|>oh.<|0.40|>"}, r"row 2: the time <\|0\.01\|>, but Whisper's times are multiples of 0\.02 s"),
        ({"text": "<|1.00|>oh.<|0.40|>"}, r"row 2: times that run backwards \(<\|0\.40\|> after <\|1\.00\|>\)"),
        ({"text": "oh <|endoftext|> no."}, r"row 2: the special token <\|endoftext\|> in the text"),
        ({"lang": "es"}, r"row 2: the language is 'es', but the model knows English only"),
    ],
    ids=["late", "between", "backwards", "special", "language"],
)
def test_a_label_that_cannot_be_trained_on_is_named(run, windows, tmp_path, fields, problem):
    with pytest.raises(ManifestError, match=problem):
        run(data=changed(windows, tmp_path, **fields))


def test_empty_texts_are_not_trained_on(run, windows, tmp_path):
    rows = [dataclasses.replace(row, text="<|0.10|><|0.20|>") for row in manifest.read(windows)]
    manifest.write(rows, tmp_path / "empty.jsonl")
    with pytest.raises(ManifestError, match="all 6 texts are empty"):
        run(data=tmp_path / "empty.jsonl")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (["data.language=es"], "'es', but the model knows English only; choose a multilingual model"),
        (["training.warmup_steps=1000"], "training.warmup_steps: 1000 steps, but the run has 2"),
        (
            ["data.augment.mask_time_prob=0.1", "data.augment.mask_time_length=5000", "data.trim=true"],
            "mask_time_length: 5000 frames, but the shortest input has 25[0-9]",
        ),
        (["data.augment.mask_feature_prob=0.1", "data.augment.mask_feature_length=41"], "41 mel bands, but .* has 40"),
        (["data.workers=4000"], r"data\.workers: 4000 processes, but this one may use \d+ processor cores?"),
        (["training.lr_scheduler_type=cosine_with_min_lr"], "cosine_with_min_lr needs other settings, such as min_lr"),
        (["training.lr_scheduler_kwargs={nonsense: 1}"], "lr_scheduler_kwargs: linear needs other settings than"),
    ],
)
def test_a_recipe_that_cannot_be_trained_by_is_refused(run, settings, problem):
    with pytest.raises((RecipeError, ManifestError), match=problem):
        run(*settings)


@pytest.mark.skipif(importlib.util.find_spec("liger_kernel") is not None, reason="liger-kernel is installed")
def test_a_missing_kernel_package_is_named(run):
    with pytest.raises(RecipeError, match="needs the package liger-kernel"):
        run("trainer_args.use_liger_kernel=true")


def test_a_key_that_is_there_twice_is_named(run):
    with pytest.raises(RecipeError, match="line 5, column 1: the key seed is there twice, first in line 4; remove one"):
        run(text="seed: 1\nseed: 2")


def test_the_base_is_not_overwritten(run, base, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(base, copy)
    (tmp_path / "link").symlink_to(copy)
    for out in (copy, tmp_path / "link", copy / ".." / "copy"):
        with pytest.raises(RecipeError, match="is the model that the run starts from, and would be replaced"):
            run(f"model.base={copy}", out=out)
    checkpoint.load(copy)


def test_what_the_base_adapts_is_not_overwritten(run, base, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(base, copy)
    run("adapter.rank=2", f"model.base={copy}", out=tmp_path / "lora", weights=True)
    with pytest.raises(RecipeError, match="is the model that the run starts from"):
        run("adapter.rank=2", f"model.base={tmp_path / 'lora'}", out=copy)


def test_a_folder_of_something_else_is_refused_at_once(run, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")
    with pytest.raises(RecipeError, match=r"out: .*thesis: exists and is not a checkpoint"):
        run(out=tmp_path / "thesis")


def test_little_data_and_a_high_rate_are_remarked(run, monkeypatch):
    monkeypatch.setattr("lsa_whisper.finetuning.training.run.starting_checkpoint", model.starting_checkpoint)
    lines = run("training.learning_rate=0.5", weights=True)
    assert any(line.startswith("little data: 0.0029 h of speech; half an hour holds") for line in lines)
    assert any(line.startswith("training.learning_rate: 0.5 is far above") for line in lines)


def test_steps_that_take_more_windows_than_there_are_and_a_low_rate_are_remarked(run):
    lines = run("training.learning_rate=0", "training.gradient_accumulation_steps=9", weights=True)
    assert "an optimizer step takes 18 windows, but there are 6: each step sees them all" in lines
    assert any("0 is far below what trains Whisper" in line and "to stay as it is" in line for line in lines)


def test_a_base_that_is_not_finite_is_named(run, base, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(base, copy)
    weights = load_file(copy / "model.safetensors")
    next(weight for name, weight in weights.items() if "fc1.weight" in name)[0] = float("nan")
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    with pytest.raises(RecipeError, match=r"model\.base: .*copy: values are infinite or not numbers \(.*fc1\.weight\)"):
        run(f"model.base={copy}", weights=True)


@pytest.mark.parametrize(("strategy", "problem"), [("tensor_parallel", "4 attention heads"), ("pipeline", "4 layers")])
def test_a_model_that_the_ranks_cannot_divide_is_refused(base, windows, tmp_path, monkeypatch, strategy, problem):
    monkeypatch.setenv("WORLD_SIZE", "9")
    text = f"{{data: {{train: {windows}}}, out: {tmp_path / 'out'}, model: {{base: {base}}}, strategy: {strategy}}}"
    with pytest.raises(RecipeError, match=f"cannot divide {problem} among 9 ranks"):
        check_data(parse_recipe(text))


def test_threads_are_counted_by_the_cores_of_this_process(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 64)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert thread_environment(2)["OMP_NUM_THREADS"] == "4"


def test_epochs_are_counted_in_steps():
    from lsa_whisper.finetuning.training.length_check import optimizer_steps

    recipe = parse_recipe("{data: {train: t}, out: o, model: {base: m}}", set=["training.num_train_epochs=2"])
    assert optimizer_steps(recipe, 81) == 2 * 11
