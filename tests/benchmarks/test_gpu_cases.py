"""What the cases of the campaign do around training: what is replaced without a GPU, and what memory ends."""

from __future__ import annotations

import doctest
import importlib

import pytest
from pages import ROOT

from benchmarks import whisper_size
from benchmarks.gpu import material, training, versions
from benchmarks.gpu.cases import CASES
from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting
from lsa_whisper.errors import RecipeError

SETTINGS = {case.name: dict(case.options) for case in CASES if case.run.endswith(":fine_tune")}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a case of fine-tuning in which ``train`` takes the place of training."""
    noise = whisper_size.windows(tmp_path / "noise", 2, seconds=2.0, letters=4)
    monkeypatch.setattr(material, "noise", lambda setting, windows: noise)
    monkeypatch.setattr(material, "base", lambda setting: ROOT / "models" / "nano")

    def run(name, train):
        monkeypatch.setattr(training, "train", train)
        record = Record(tmp_path / f"{name}.json")
        training.fine_tune(Setting(str(tmp_path), dry=True), record, **SETTINGS[name])
        return record.figures

    return run


@pytest.mark.parametrize("name", ["record", "wheels", "versions", "transcription"])
def test_examples(name):
    tried = doctest.testmod(importlib.import_module(f"benchmarks.gpu.{name}"))
    assert tried.attempted and not tried.failed


@pytest.mark.parametrize("name", SETTINGS)
def test_every_recipe_is_read_and_sized_for_a_dry_run(name, run):
    found = []
    run(name, lambda recipe, measure: found.append((recipe, measure)))
    ((recipe, measure),) = found
    assert recipe.training.use_cpu and recipe.training.max_steps == 2 * training.DRY_STEPS
    assert measure.size == 1 and recipe.training.per_device_train_batch_size == 2


def test_what_needs_a_gpu_is_replaced_and_named(run):
    found = []
    figures = run("fp8", lambda recipe, measure: found.append(recipe.precision))
    assert found == ["bf16"] and "fp8 needs a GPU of compute capability 8.9" in figures["not_run"]["settings"]
    assert run("full-in-4-gib", lambda *_: None)["not_run"] == {"cap_gib": "the CPU has no limit of GPU memory"}


def test_too_little_memory_for_a_larger_batch_keeps_the_smaller_one(run):
    def train(recipe, measure):
        measure.record.add("batch 1", {"samples_per_s": 1.0})
        measure.measured = 1
        raise RecipeError("out of memory with batch 2")

    figures = run("single", train)
    assert figures["batch 1"] and figures["batch 2"] == {"failed": "out of memory with batch 2"}


def test_too_little_memory_for_any_batch_is_a_failure(run):
    def train(recipe, measure):
        raise RecipeError("out of memory with batch 1")

    with pytest.raises(RecipeError):
        run("single", train)


def test_a_requirement_that_is_not_met_is_named(tmp_path, monkeypatch):
    for name, number, needs in (("upper", "1.0", ["lower>=2", "absent", "unused; extra == 'x'"]), ("lower", "1.5", [])):
        folder = tmp_path / f"{name}-{number}.dist-info"
        folder.mkdir()
        lines = [
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}",
            *(f"Requires-Dist: {need}" for need in needs),
        ]
        (folder / "METADATA").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert versions.unmet_requirements("upper") == [
        "upper needs absent, but there is none",
        "upper needs lower>=2, but there is 1.5",
    ]
