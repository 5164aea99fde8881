"""``finetune`` without a recipe, and by a shipped recipe's name."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from lsa_whisper import manifest
from lsa_whisper.checkpoint.choice import list_models
from lsa_whisper.cli import main
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning.from_corpus import finetune, prepare_for
from lsa_whisper.finetuning.memory import Resources, estimate_run
from lsa_whisper.finetuning.recipe import read_recipe
from lsa_whisper.system.shipped import NANO, shipped

STORYBOOK = Path("corpora/storybook/train").absolute()


def corpus_of(folder, names):
    folder.mkdir()
    for name in names:
        for suffix in (".cha", ".flac"):
            shutil.copyfile(STORYBOOK / f"{name}{suffix}", folder / f"{name}{suffix}")
    return folder


@pytest.mark.slow
def test_a_corpus_becomes_a_checkpoint_with_its_recipe(tmp_path, monkeypatch):
    model = shipped(NANO).absolute()
    corpus_of(tmp_path / "visits", ["train01", "train02", "train03"])
    monkeypatch.chdir(tmp_path)
    lines = []
    few = ["training.num_train_epochs=1"]
    result = finetune("visits", model=model, set=few, report=lines.append)
    assert result.out == Path("runs/visits") and (result.out / "model.safetensors").exists()
    recipe = Path("runs/visits.recipe.yaml").read_text()
    assert (result.out / "recipe.yaml").read_text() == recipe and "# The model to start from." in recipe
    assert any(line.startswith("chosen: all weights of") for line in lines)
    assert lines[-1].endswith("lsa-whisper models use runs/visits")
    assert str(tmp_path / "runs" / "visits") in {model.name for model in list_models().models}

    again = []
    assert finetune("visits", model=model, set=few, report=again.append) == result
    assert any("already trained" in line for line in again)
    with pytest.raises(RecipeError, match="starts from"):
        finetune("visits", model="openai/whisper-tiny", report=again.append)


@pytest.mark.parametrize("kind", ["corpus", "prepared"])
def test_a_recipe_of_other_data_is_not_taken_for_these(kind, windows_of_nano, tmp_path):
    """Folders of two studies may have one name, and ``runs/NAME.recipe.yaml`` is the recipe of one of them."""
    source = {"corpus": STORYBOOK, "prepared": windows_of_nano}[kind]
    other = corpus_of(tmp_path / "other", ["train02"])
    recipe = f"{{data: {{train: '{windows_of_nano}/train.jsonl'}}, out: '{tmp_path}/a', model: {{base: missing/m}}}}"
    (tmp_path / "a.recipe.yaml").write_text(recipe)
    with pytest.raises(RecipeError, match=r"a\.recipe\.yaml: trains on other data than .*other; remove it, or set"):
        finetune(other, out=tmp_path / "a")
    lines: list[str] = []
    with pytest.raises(CheckpointError):
        finetune(source, out=tmp_path / "a", report=lines.append)
    assert lines[0].startswith(f"training by {tmp_path}/a.recipe.yaml on {windows_of_nano}/train.jsonl")


@pytest.mark.slow
def test_an_unusable_recording_that_is_all_of_a_split_leaves_the_others_to_train_on(tmp_path):
    corpus = corpus_of(tmp_path / "visits", ["train01", "train02", "train03"])
    prepare_for(str(shipped(NANO)), corpus, tmp_path / "data", print)
    (tested,) = {Path(row.audio_filepath).stem for row in manifest.read(tmp_path / "data" / "test.jsonl")}
    transcript = corpus / f"{tested}.cha"
    transcript.write_text(re.sub("\x15\\d+_\\d+\x15", "", transcript.read_text()))
    lines: list[str] = []
    prepare_for(str(shipped(NANO)), corpus, tmp_path / "fewer", lines.append)
    rows = manifest.read(tmp_path / "fewer" / "train.jsonl")
    assert len({row.audio_filepath for row in rows}) == 2
    last = f"all recordings train, and the last step is kept: test would be empty: no utterance of {tested}.cha can be"
    assert lines[1].startswith(last)


def test_a_folder_of_something_else_is_refused_before_a_corpus_is_prepared(tmp_path):
    corpus = corpus_of(tmp_path / "visits", ["train01"])
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        finetune(corpus, model=shipped(NANO).absolute(), out=corpus)
    assert [path.name for path in tmp_path.iterdir()] == ["visits"]


def test_a_shipped_recipe_is_found_by_its_name(tmp_path, monkeypatch):
    """It starts from the shipped model wherever the command is called; its data are the user's."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["finetune", "tutorial", "--set", "data.train=missing.jsonl"])
    assert done.exit_code == 1 and "missing.jsonl" in done.stderr


def test_finetune_alone_says_what_it_needs_with_an_example():
    done = CliRunner().invoke(main, ["finetune"])
    assert done.exit_code == 2
    assert "Example: lsa-whisper finetune" in done.output and "SOURCE" in done.output


@pytest.mark.parametrize("name", ["whisper-large-v3-lora", "tutorial"])
def test_recipes_are_listed_and_shown(name, tmp_path, monkeypatch):
    text = Path(f"recipes/{name}.yaml").read_text().rstrip("\n")
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    listed = runner.invoke(main, ["recipes"]).output
    assert f"\n{name}\n" in f"\n{listed}" and "GiB" in listed
    assert runner.invoke(main, ["recipes", "show", name]).output == f"{text}\n"


def test_a_new_recipe_is_for_these_data_and_this_machine(windows_of_nano, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["recipes", "new", str(windows_of_nano), "--model", str(shipped(NANO).absolute()), "-o", "mine.yaml"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0 and done.stdout == "mine.yaml\n", done.output
    assert "# Chosen by lsa-whisper for 2 training windows" in Path("mine.yaml").read_text()
    recipe = read_recipe(Path("mine.yaml"))
    assert (recipe.data.train, recipe.out) == (str(windows_of_nano / "train.jsonl"), "runs/mine")
    assert estimate_run(recipe, Resources.of_this_machine(recipe).hardware).fits
    again = CliRunner().invoke(main, words)
    assert again.exit_code == 1 and "mine.yaml: exists already" in again.stderr


def test_a_new_recipe_needs_prepared_data(tmp_path, monkeypatch):
    corpus_of(tmp_path / "visits", ["train01"])
    done = CliRunner().invoke(main, ["recipes", "new", str(tmp_path / "visits"), "-o", str(tmp_path / "mine.yaml")])
    assert done.exit_code == 1 and "prepare it with 'lsa-whisper prepare" in done.stderr
    assert not (tmp_path / "mine.yaml").exists()


@pytest.fixture
def windows_of_nano(tmp_path):
    rows = [manifest.Segment(str(STORYBOOK / "train01.flac"), start, 2.0, "no.") for start in (0.0, 2.0)]
    manifest.write(rows, tmp_path / "data" / "train.jsonl")
    return tmp_path / "data"
