"""The recipe that is chosen where none is given."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import yaml

from lsa_whisper.errors import CorpusError, RecipeError
from lsa_whisper.finetuning.from_corpus.plan import Setting, choose_recipe, describe, fit_to_machine, with_micro_batch
from lsa_whisper.finetuning.from_corpus.recipe_text import recipe_text
from lsa_whisper.finetuning.from_corpus.source import SourceKind, kind_of_source
from lsa_whisper.finetuning.memory import Hardware, Resources
from lsa_whisper.finetuning.recipe import parse_recipe

NANO = Setting(Path("/data"), "models/nano", Path("out"), 260, 60, 4_100_000, has_gpu=False)
LARGE = Setting(Path("/data"), "openai/whisper-large-v3", Path("out"), 12_000, 500, 1_543_000_000, has_gpu=True)


@pytest.fixture
def hardware(monkeypatch):
    def limited(**limits):
        resources = Resources(Hardware(**limits))
        monkeypatch.setattr(Resources, "of_this_machine", lambda recipe: resources)

    return limited


def test_all_weights_of_a_small_model_are_trained_and_a_lora_of_a_large_one():
    assert "adapter" not in choose_recipe(NANO)
    assert choose_recipe(LARGE)["adapter"] == {"rank": 32, "alpha": 64}


def test_a_small_corpus_is_seen_more_often():
    assert NANO.epochs == 8 and NANO.steps == 520
    assert LARGE.epochs == 3


def test_the_dev_set_is_evaluated_four_times_and_without_one_checkpoints_are_saved_by_time():
    assert choose_recipe(NANO)["evaluation"]["every_steps"] == 130
    without = choose_recipe(dataclasses.replace(NANO, dev_windows=0))
    assert "evaluation" not in without and "save_steps" not in without["training"]


@pytest.mark.parametrize("setting", [NANO, LARGE], ids=["nano", "large"])
def test_the_text_is_a_recipe_with_comments(setting):
    raw = choose_recipe(setting)
    text = recipe_text(raw, setting.windows, None)
    assert yaml.safe_load(text) == raw
    assert parse_recipe(text).model.base == setting.base
    assert all(f"\n# {line}" in text for line in ("The model to start from.", "Batches, length and learning rate"))


@pytest.mark.parametrize(("gpu_gib", "fewest"), [(80.0, 16), (16.0, 2)])
def test_the_micro_batch_is_the_largest_that_fits(hardware, gpu_gib, fewest):
    hardware(gpus=1, gpu_gib=gpu_gib)
    raw, plan = fit_to_machine(choose_recipe(LARGE), LARGE)
    training = raw["training"]
    assert training["per_device_train_batch_size"] >= fewest and plan.fits
    assert training["per_device_train_batch_size"] * training.get("gradient_accumulation_steps", 1) == 16


def test_where_not_one_window_fits_the_nearest_plan_is_taken(hardware):
    hardware(gpus=1, gpu_gib=5.0, host_gib=64.0)
    raw, plan = fit_to_machine(choose_recipe(LARGE), LARGE)
    assert plan.fits and plan.gpu_gib < 5
    assert parse_recipe(yaml.safe_dump(raw)).model.base == LARGE.base


def test_where_nothing_fits_the_message_says_so(hardware):
    hardware(gpus=1, gpu_gib=1.0, host_gib=2.0)
    with pytest.raises(RecipeError, match="no other plan fits"):
        fit_to_machine(choose_recipe(LARGE), LARGE)


def test_what_was_chosen_is_said_plainly():
    line = describe(NANO, with_micro_batch(choose_recipe(NANO), 2), None)[0]
    assert line == (
        "chosen: all weights of models/nano, 8 epochs of 260 windows, 520 steps of batch 4, learning rate 0.0008, "
        "on the CPU"
    )


def test_sources_are_told_apart(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").touch()
    (tmp_path / "corpus" / "inner").mkdir(parents=True)
    (tmp_path / "corpus" / "inner" / "a.cha").touch()
    assert kind_of_source(tmp_path / "data") is SourceKind.PREPARED
    assert kind_of_source(tmp_path / "corpus") is SourceKind.CORPUS
    assert kind_of_source(tmp_path / "mine.yaml") is SourceKind.RECIPE
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="neither prepared data"):
        kind_of_source(tmp_path / "empty")
