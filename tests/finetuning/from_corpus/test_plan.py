"""The recipe that is chosen where none is given."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import yaml

from lsa_whisper import manifest
from lsa_whisper.errors import CorpusError, RecipeError
from lsa_whisper.finetuning.from_corpus import SourceKind, kind_of_source, plan
from lsa_whisper.finetuning.from_corpus.method import Setting, choose_method, run_minutes, setting_of
from lsa_whisper.finetuning.from_corpus.plan import (
    choose_recipe,
    describe,
    fit_to_machine,
    recipe_text,
    with_micro_batch,
)
from lsa_whisper.finetuning.memory import Hardware, Resources
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.length_check import small_dev_set
from lsa_whisper.finetuning.workload.dev_set import decides, dev_size
from lsa_whisper.labels import VERBATIM_PROMPTS

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
    assert choose_method(NANO).epochs == 8 and choose_method(NANO).steps(NANO.windows) == 520
    assert choose_method(LARGE).epochs == 3


BASE = Setting(
    Path("/data"), "openai/whisper-base", Path("out"), 12, 0, 72_593_920, has_gpu=False, hours=0.05, is_stock=True
)


def test_of_little_data_a_stock_model_learns_in_the_decoder_from_a_prompt():
    raw = choose_recipe(BASE)
    assert raw["model"] == {"base": "openai/whisper-base", "freeze_encoder": True, "top_layers": 6}
    assert raw["data"]["prompt"] == VERBATIM_PROMPTS["eng"] and "trim" not in raw["data"] and "adapter" not in raw
    training = raw["training"]
    assert (training["learning_rate"], training["num_train_epochs"], training["logging_steps"]) == (3e-5, 6, 3)
    assert choose_method(BASE).steps(BASE.windows) == 18


def test_of_little_data_a_larger_stock_model_has_a_small_adapter_in_the_decoder():
    raw = choose_recipe(dataclasses.replace(BASE, base="openai/whisper-large-v3", parameters=1_543_000_000))
    assert raw["adapter"] == {"rank": 16, "alpha": 32, "stacks": "decoder"} and raw["training"]["learning_rate"] == 3e-4
    assert parse_recipe(yaml.safe_dump(raw)).data.prompt == VERBATIM_PROMPTS["eng"]


@pytest.mark.parametrize(("change", "value"), [("language", "mul"), ("is_stock", False), ("hours", 2.0)])
def test_other_data_and_models_have_no_prompt(change, value):
    assert "prompt" not in choose_recipe(dataclasses.replace(BASE, **{change: value}))["data"]


def test_the_time_of_a_run_grows_with_the_windows_and_with_what_is_trained(monkeypatch):
    short, long = BASE, dataclasses.replace(BASE, windows=1200)
    one = choose_method(short)
    assert run_minutes(short, one, 6) > 0
    # Measured again for each time, the machine may be busy with something else.
    monkeypatch.setattr("lsa_whisper.finetuning.from_corpus.method._operations_per_s", lambda has_gpu: 1e10)
    assert run_minutes(long, one, 6) > 20 * run_minutes(short, one, 6)
    both = dataclasses.replace(one, model={})
    assert run_minutes(long, both, 6) > 1.2 * run_minutes(long, one, 6)
    assert run_minutes(dataclasses.replace(BASE, parameters=None), one, 6) is None


def test_the_time_is_that_of_the_steps_that_will_be_run(hardware, monkeypatch, tmp_path):
    hardware(gpus=0)
    monkeypatch.setattr(plan, "setting_of", lambda *_: dataclasses.replace(BASE, windows=12_000, hours=100.0))

    def time(*overrides):
        lines = []
        plan.plan_recipe(tmp_path, BASE.base, tmp_path / "run", lines.append, set=overrides)
        return lines[-1]

    assert "hours" in time() and "hours" in time("training.num_train_epochs=1")
    assert re.fullmatch(r"about \d+ minutes?, without evaluations", time("training.max_steps=1"))


def dev_set(folder, texts):
    rows = [manifest.Segment("a.wav", float(at), 1.0, text, labels="chat/4") for at, text in enumerate(texts)]
    manifest.write(rows, folder / "dev.jsonl")
    return folder / "dev.jsonl"


def test_a_dev_set_decides_only_with_enough_words_and_disfluencies(tmp_path):
    said = "<|0.00|>um I want the dog and the cat and the cow.<|1.00|>"
    assert dev_size(dev_set(tmp_path, [said] * 2)) == (22, 2) and not decides(tmp_path / "dev.jsonl")
    assert decides(dev_set(tmp_path, [said] * 30))
    assert not decides(dev_set(tmp_path, ["I want the dog and the cat and the cow."] * 60)), "no disfluency"
    assert dev_size(tmp_path / "absent.jsonl") == (0, 0)


@pytest.mark.parametrize(
    ("setting", "windows", "warned"),
    [("every_steps=1", 1, True), ("every_steps=1", 30, False), ("keep_best=false", 1, False)],
)
def test_a_dev_set_that_is_too_small_for_a_choice_is_remarked(tmp_path, setting, windows, warned):
    dev = dev_set(tmp_path, ["<|0.00|>um I want the dog and the cat and the cow.<|1.00|>"] * windows)
    text = f"{{data: {{train: t, dev: '{dev}'}}, out: o, model: {{base: m}}}}"
    remark = small_dev_set(parse_recipe(text, set=[f"evaluation.{setting}"]))
    assert (remark or "").startswith("data.dev: with 11 words and 1 disfluency, chance") is warned


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
    raw, plan = fit_to_machine(choose_recipe(LARGE), LARGE, force=True)  # as the message proposes
    assert not plan.fits and raw["training"]["per_device_train_batch_size"] == 1


def test_what_was_chosen_is_said_plainly():
    line = describe(NANO, with_micro_batch(choose_recipe(NANO), 2), None)[0]
    assert line == (
        "chosen: all weights of models/nano, 8 epochs of 260 windows, 520 steps of batch 4, learning rate 0.0008, "
        "on the CPU"
    )

    one = describe(dataclasses.replace(NANO, windows=1), choose_recipe(NANO), None)[0]
    assert "8 epochs of 1 window, " in one


def test_what_was_chosen_is_what_is_trained_after_the_plan_was_fitted():
    raw = choose_recipe(LARGE) | {"adapter": {"rank": 8, "alpha": 16}}
    assert describe(LARGE, raw, None)[0].startswith("chosen: LoRA of rank 8 of openai/whisper-large-v3,")


def test_data_without_windows_are_one_sentence(tmp_path):
    (tmp_path / "train.jsonl").touch()
    with pytest.raises(CorpusError, match=r"train\.jsonl: holds no windows; add recordings"):
        setting_of(tmp_path, "openai/whisper-base", tmp_path / "out")


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


@pytest.mark.parametrize(("others", "language"), [(1, "eng"), (2, "mul")])
def test_a_recording_in_another_language_takes_no_prompt_from_the_others(others, language, tmp_path):
    codes = ["en"] * (10 - others) + ["de"] * others
    rows = [manifest.Segment("a.wav", 2.0 * at, 2.0, "no.", lang=code) for at, code in enumerate(codes)]
    manifest.write(rows, tmp_path / "train.jsonl")
    assert setting_of(tmp_path, "openai/whisper-base", tmp_path / "out").language == language
