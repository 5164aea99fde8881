from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess

import pytest
import torch
from training_run import logged
from transformers import TrainerState

from lsa_whisper import checkpoint, manifest
from lsa_whisper.chat import Disfluency
from lsa_whisper.checkpoint.stored_labels import read_writing
from lsa_whisper.errors import ManifestError
from lsa_whisper.finetuning import finetune, from_corpus
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training import arguments as translated
from lsa_whisper.finetuning.training.callbacks import CurveLogger
from lsa_whisper.finetuning.training.model import prepare_for_training, starting_checkpoint
from lsa_whisper.finetuning.training.saving import _revision
from lsa_whisper.labels import Labels


def run(path, text, **options):
    path.write_text(text)
    return finetune(path, report=lambda _: None, **options)


@pytest.fixture
def trained(base, windows, scratch_recipe, tmp_path):
    """Return the checkpoint that the base becomes by more training."""

    def train(*settings):
        settings = ["model.scratch=null", f"model.base={base}", *settings]
        return run(tmp_path / "r.yaml", scratch_recipe(windows, tmp_path / "out"), set=settings).out

    return train


@pytest.fixture(scope="session")
def base(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    return run(folder / "recipe.yaml", scratch_recipe(windows, folder / "model", training="save_steps: 1")).out


def test_new_weights_become_a_checkpoint(base):
    loaded = checkpoint.load(base)
    assert loaded.context_s == 2.0 and loaded.feature_extractor.feature_size == 20
    assert dataclasses.replace(loaded.labels, unseen=()) == Labels("chat")
    assert not any("ctc" in name for name, _ in loaded.model.named_parameters())
    said = json.loads((base / "lsa_whisper.json").read_text())["provenance"]
    assert said["steps"] == 4 and said["versions"]["torch"] == torch.__version__
    assert said["recipe"]["model"]["scratch"]["d_model"] == 16


def test_the_unfinished_folder_is_gone(base):
    assert [path.name for path in base.parent.iterdir() if "unfinished" in path.name] == []


def test_a_finished_run_is_not_repeated(base, windows, scratch_recipe, tmp_path):
    before = (base / "model.safetensors").stat().st_mtime_ns
    lines = []
    path = tmp_path / "recipe.yaml"
    path.write_text(scratch_recipe(windows, base, training="save_steps: 1"))
    assert finetune(path, report=lines.append).steps == 4
    assert lines == [f"{base}: already trained with this recipe and these data"]
    assert (base / "model.safetensors").stat().st_mtime_ns == before


@pytest.mark.parametrize("part", ["loss", "recipe", "provenance", "all"])
def test_a_model_whose_description_is_damaged_counts_as_another(base, windows, scratch_recipe, tmp_path, part):
    damaged = shutil.copytree(base, tmp_path / "damaged")
    said = json.loads((damaged / "lsa_whisper.json").read_text())
    if part == "loss":
        del said["provenance"]["loss"]
    (said["provenance"] if part == "recipe" else said)[part] = []
    (damaged / "lsa_whisper.json").write_text("[]" if part == "all" else json.dumps(said))
    lines: list[str] = []
    path = tmp_path / "recipe.yaml"
    path.write_text(scratch_recipe(windows, damaged, training="save_steps: 1"))
    assert finetune(path, report=lines.append).steps == 4
    assert any("holds another model" in line for line in lines)


@pytest.mark.slow
def test_same_seed_same_weights_other_seed_other_weights(windows, scratch_recipe, tmp_path):
    weights = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        done = run(tmp_path / "r.yaml", scratch_recipe(windows, tmp_path / name), set=[f"seed={seed}"])
        weights.append(checkpoint.load(done.out).model.state_dict()["proj_out.weight"])
    torch.testing.assert_close(weights[0], weights[1], rtol=0, atol=0)
    assert not torch.equal(weights[0], weights[2])


def test_the_remaining_time_follows_from_the_steps_of_this_call(tmp_path, monkeypatch):
    clock, lines = iter((0.0, 100.0, 120.0)), []
    monkeypatch.setattr("lsa_whisper.finetuning.training.callbacks.time.monotonic", lambda: next(clock))
    curve = CurveLogger(tmp_path / "curve.jsonl", lines.append)
    state = TrainerState(max_steps=3500, global_step=2500)
    curve.on_train_begin(None, state, None)
    state.global_step = 2550
    curve.on_log(None, state, None, {"loss": 0.5})
    assert lines == ["step 2550/3500  loss 0.5000  380 s left"]


def test_an_adapter_leaves_the_base_unchanged_and_merges(base, trained):
    out = trained("adapter.rank=16")
    assert (out / "adapter_model.safetensors").exists() and not (out / "model.safetensors").exists()
    before, after = checkpoint.load(base).model.state_dict(), checkpoint.load(out).model.state_dict()
    changed = {name.split(".")[-2] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"q_proj", "v_proj", "out_proj"}


def test_adapter_with_embeddings_trains_those_of_the_labels_only(base, trained):
    settings = ("adapter.rank=16", "adapter.token_embeddings=true", "training.per_device_train_batch_size=8")
    before, after = checkpoint.load(base), checkpoint.load(trained(*settings))
    moved = (before.model.proj_out.weight != after.model.proj_out.weight).any(1)
    ids = before.tokenizer(" um I want want it.", add_special_tokens=False).input_ids
    assert moved[ids].all() and not moved[before.tokenizer.eos_token_id :].any()
    assert torch.equal(after.model.proj_out.weight, after.model.get_input_embeddings().weight)


def test_dropout_is_for_training_only(base, windows, tmp_path):
    recipe = parse_recipe(f"{{data: {{train: {windows}}}, out: x, model: {{base: {base}, dropout: 0.3}}}}")
    begun = starting_checkpoint(recipe, Labels("chat"))
    model = prepare_for_training(begun, recipe)
    given = {
        "input_features": torch.randn(1, 20, 200),
        "decoder_input_ids": torch.tensor([[model.config.decoder_start_token_id]]),
    }
    heard = [model.train()(**given).logits for _ in range(2)]
    assert not torch.equal(*heard)
    heard = [model.eval()(**given).logits for _ in range(2)]
    assert torch.equal(*heard) and model.config.dropout == 0


def test_a_low_rank_is_as_good_as_any(trained, recwarn):
    """Measured: every rank from 4 on converges (docs/adapters.md), so that a warning would be untrue."""
    trained("adapter.rank=4", "training.max_steps=1")
    assert not [warning for warning in recwarn if "rank" in str(warning.message)]


def test_freeze_encoder_leaves_the_encoder_unchanged(base, trained):
    after = checkpoint.load(trained("model.freeze_encoder=true")).model.state_dict()
    before = checkpoint.load(base).model.state_dict()
    changed = {name.split(".")[1] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"decoder", "weight"}  # the tied output layer is the decoder's token table


@pytest.mark.slow
def test_two_processes_train_like_one(windows, scratch_recipe, tmp_path):
    """Two ranks of one window each take the same steps as one process with batches of two."""
    path = tmp_path / "r.yaml"
    one = run(path, scratch_recipe(windows, tmp_path / "one"))
    two = run(
        path,
        scratch_recipe(windows, tmp_path / "two", extra="strategy: ddp"),
        set=["training.per_device_train_batch_size=1"],
        processes=2,
    )
    assert two.steps == one.steps == 4
    assert logged(two.out) == pytest.approx(logged(one.out), abs=1e-4)


def test_one_process_takes_one_gpu(tmp_path, monkeypatch):
    """transformers would copy the model to all of them, and count the loss as often."""
    made = translated.Seq2SeqTrainingArguments

    def on_four_gpus(**settings):
        arguments = made(**settings)
        arguments._n_gpu = 4
        return arguments

    monkeypatch.setattr(translated, "Seq2SeqTrainingArguments", on_four_gpus)
    recipe = parse_recipe("{data: {train: t}, out: o, model: {base: m}, training: {use_cpu: true}}")
    arguments = translated.training_arguments(recipe, tmp_path)
    assert arguments.n_gpu == 1 and arguments.train_batch_size == arguments.per_device_train_batch_size


def test_the_revision_is_that_of_the_package(tmp_path):
    source = tmp_path / "venv" / "module.py"
    source.parent.mkdir()
    source.touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "theirs"], check=True)
    assert _revision(source) is None
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "ours"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert _revision(source) == head


def test_windows_longer_than_the_context_are_rejected(base, windows, tmp_path):
    rows = (windows.parent / "train.jsonl").read_text().replace('"duration": 2.0', '"duration": 2.5')
    (windows.parent / "long.jsonl").write_text(rows)
    recipe = f"{{data: {{train: {windows.parent / 'long.jsonl'}}}, out: {tmp_path / 'o'}, model: {{base: {base}}}}}"
    with pytest.raises(ManifestError, match=r"long\.jsonl.*\b1: a window of 2\.5 s, but the model's context is 2 s"):
        run(tmp_path / "r.yaml", recipe, set=["training.use_cpu=true"])


def test_a_prompt_is_trained_behind_and_kept(windows, scratch_recipe, tmp_path):
    untimed = [dataclasses.replace(row, text="um I want.", word_times="") for row in manifest.stream(windows)]
    manifest.write(untimed, tmp_path / "train.jsonl")
    recipe = scratch_recipe(tmp_path / "train.jsonl", tmp_path / "model")
    done = run(tmp_path / "r.yaml", recipe, set="data.prompt=um I I want.")
    loaded = checkpoint.load(done.out)
    assert dataclasses.replace(loaded.labels, unseen=()) == Labels("chat", prompt="um I I want.", timestamps=False)
    stamps = checkpoint.timestamp_tokens(loaded.tokenizer, loaded.model.generation_config)
    assert not checkpoint.has_timestamps(loaded.tokenizer, loaded.model.generation_config) or not stamps
    again = run(tmp_path / "again.yaml", scratch_recipe(tmp_path / "train.jsonl", tmp_path / "again"))
    assert dataclasses.replace(checkpoint.load(again.out).labels, unseen=()) == Labels("chat", timestamps=False)


def test_classes_that_no_label_in_training_had_are_not_transcribed(windows, scratch_recipe, tmp_path):
    unseen = []
    for name, said, base in (("first", "um I want.", []), ("second", "a ≠dog wa:nts.", ["model.scratch=null"])):
        rows = [dataclasses.replace(row, text=said, word_times="") for row in manifest.stream(windows)]
        manifest.write(rows, tmp_path / f"{name}.jsonl")
        base = [*base, f"model.base={tmp_path / 'first'}"] if base else []
        run(tmp_path / "r.yaml", scratch_recipe(tmp_path / f"{name}.jsonl", tmp_path / name), set=base)
        unseen.append({*read_writing(tmp_path / name).labels.unseen})
    every = {kind.value for kind in Disfluency}
    assert unseen[0] == every - {"filled_pause"} and unseen[0] - unseen[1] == {"block", "prolongation"}
    assert "not transcribed: prolongation" not in read_writing(tmp_path / "second").coverage.comment()
    assert read_writing(tmp_path / "first").coverage.comment().startswith("not transcribed: ")


def test_a_run_that_diverged_or_replaces_a_model_says_so(base, windows, tmp_path):
    """Training ends at the last step even where every step made the model worse."""
    recipe = f"""
data: {{train: '{windows}'}}
out: '{tmp_path}/my run'
model: {{base: '{base}'}}
training: {{use_cpu: true, learning_rate: RATE, max_steps: 3, logging_steps: 1}}
"""
    for rate, diverged, replaced in (("1e-5", False, False), ("5", True, True)):
        lines: list[str] = []
        path = tmp_path / "recipe.yaml"
        path.write_text(recipe.replace("RATE", rate))
        from_corpus.finetune(path, report=lines.append)
        assert any("training has diverged" in line for line in lines) is diverged, lines
        assert any(f"models use '{tmp_path}/my run'" in line for line in lines) is not diverged, lines
        assert any(line.startswith(f"{tmp_path}/my run: holds another model") for line in lines) is replaced, lines
