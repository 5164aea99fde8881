"""A run that is stopped, however, goes on as if it had not been."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import signal

import pytest
import torch
from rank_work import run_ranks, train_stop_and_resume
from training_run import StoppedError, logged, stopped_at
from transformers import TrainerControl, TrainerState

from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import OffloadSettings, Recipe, parse_recipe, with_overrides
from lsa_whisper.finetuning.settings.values import describe_changes
from lsa_whisper.finetuning.training import callbacks as schedules
from lsa_whisper.finetuning.training import resume, run

SUBJECT = {"recipe": {}, "data": "0"}
SAVING = "save_strategy: steps, save_steps: 1, save_total_limit: 3"


@pytest.fixture
def stopped(windows, scratch_recipe, tmp_path):
    """The recipe's file of a run that was killed in its fourth step, and its folder, which has three checkpoints."""
    path = tmp_path / "r.yaml"
    path.write_text(scratch_recipe(windows, tmp_path / "out", training=SAVING))
    with pytest.raises(StoppedError):
        finetune(path, report=stopped_at(4))
    assert not (tmp_path / "out").exists()
    return path, tmp_path / "out.unfinished"


@pytest.fixture(scope="module")
def undisturbed(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    (folder / "r.yaml").write_text(scratch_recipe(windows, folder / "out", training=SAVING))
    return finetune(folder / "r.yaml", report=lambda _: None).out


def test_resumes_from_the_newest_checkpoint(stopped, undisturbed):
    path, folder = stopped
    assert resume.checkpoint_problem(folder / "checkpoint-3") is None
    lines = []
    out = finetune(path, report=lines.append).out
    assert f"resuming from {folder / 'checkpoint-3'}" in lines
    assert logged(out) == pytest.approx(logged(undisturbed), abs=1e-6)
    assert logged(out, "step") == [1, 2, 3, 4, 4]  # four steps and the summary, none twice
    states = [checkpoint.load(each).model.state_dict() for each in (out, undisturbed)]
    torch.testing.assert_close(*states, rtol=0, atol=1e-6)


def _without_a_file(newest):
    (newest / "optimizer.pt").unlink()
    return "optimizer.pt is missing"


def _cut_off(newest):
    whole = (newest / "model.safetensors").read_bytes()
    (newest / "model.safetensors").write_bytes(whole[:-9])
    return f"model.safetensors has {len(whole) - 9} bytes instead of {len(whole)}"


def _not_marked(newest):
    (newest / resume.MARK).unlink()
    return "the run was stopped while it was being written"


@pytest.mark.parametrize("damage", [_without_a_file, _cut_off, _not_marked])
def test_a_broken_checkpoint_is_skipped_and_reported(stopped, undisturbed, damage):
    path, folder = stopped
    problem = damage(folder / "checkpoint-3")
    lines = []
    out = finetune(path, report=lines.append).out
    assert f"{folder / 'checkpoint-3'}: skipped, {problem}" in lines
    assert f"resuming from {folder / 'checkpoint-2'}" in lines
    assert logged(out) == pytest.approx(logged(undisturbed), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["data.augment.speed_perturbation=0.1", "data.trim=true"])
def test_ranks_that_stop_within_their_second_epoch_take_its_other_windows(windows, scratch_recipe, tmp_path, order):
    """Two of three batches of the second epoch are done: the third is not the first epoch's."""
    saving = "save_strategy: steps, save_steps: 5"
    text = scratch_recipe(windows, tmp_path / "out", training=saving)
    (tmp_path / "r.yaml").write_text(text.replace("max_steps: 4", "max_steps: 6").replace("size: 2", "size: 1"))
    run_ranks(train_stop_and_resume, 2, tmp_path / "r.yaml", ["strategy=ddp", order])
    assert logged(tmp_path / "cut") == pytest.approx(logged(tmp_path / "whole"), abs=1e-6)


@pytest.mark.slow
def test_a_checkpoint_is_removed_only_when_a_newer_one_is_complete(windows, scratch_recipe, tmp_path, monkeypatch):
    """Killed between the last byte and the mark, the run still has its older checkpoint."""
    path = tmp_path / "r.yaml"
    path.write_text(scratch_recipe(windows, tmp_path / "out", training="save_strategy: steps, save_steps: 1"))
    mark = resume.mark_complete

    def killed(folder, *given):
        if folder.name == "checkpoint-2":
            raise StoppedError
        mark(folder, *given)

    monkeypatch.setattr("lsa_whisper.finetuning.training.trainer.mark_complete", killed)
    with pytest.raises(StoppedError):
        finetune(path, report=lambda _: None)
    lines = []
    monkeypatch.setattr("lsa_whisper.finetuning.training.trainer.mark_complete", mark)
    finetune(path, report=lines.append)
    assert f"resuming from {tmp_path / 'out.unfinished' / 'checkpoint-1'}" in lines


@pytest.mark.slow
def test_killed_after_its_last_checkpoint_it_takes_no_further_step(windows, scratch_recipe, tmp_path, monkeypatch):
    path = tmp_path / "r.yaml"
    text = scratch_recipe(windows, tmp_path / "out", training=SAVING).replace("size: 2", "size: 1")

    def killed(*_):
        raise StoppedError

    path.write_text(text)  # six steps an epoch: the fifth must not be taken
    with monkeypatch.context() as patch:
        patch.setattr("lsa_whisper.finetuning.training.run.save_trained", killed)
        with pytest.raises(CheckpointError):
            finetune(path, report=lambda _: None)
    done = finetune(path, report=lambda _: None)
    assert done.steps == 4
    assert logged(done.out, "step") == [1, 2, 3, 4, 4]


@pytest.mark.slow
def test_weights_that_cannot_be_saved_are_kept_and_the_message_says_where(
    windows, scratch_recipe, tmp_path, monkeypatch
):
    path, folder = tmp_path / "r.yaml", tmp_path / "out.unfinished" / "checkpoint-4"
    path.write_text(scratch_recipe(windows, tmp_path / "out"))

    def fails(*_):
        raise ValueError("no such token")

    with monkeypatch.context() as patch:
        patch.setattr("lsa_whisper.finetuning.training.run.save_trained", fails)
        with pytest.raises(CheckpointError, match=rf"no such token.*the trained weights are in {folder}"):
            finetune(path, report=lambda _: None)
    assert (folder / "model.safetensors").is_file()
    assert finetune(path, report=lambda _: None).steps == 4


@pytest.mark.slow
def test_checkpoints_are_saved_by_default(windows, scratch_recipe, tmp_path, monkeypatch):
    """After the first step of each call, and after the last."""
    monkeypatch.setattr(
        schedules, "MIN_INTERVAL_S", schedules.MAX_INTERVAL_S
    )  # on a busy machine a step can take seconds
    path, lines = tmp_path / "r.yaml", []
    path.write_text(scratch_recipe(windows, tmp_path / "out"))
    with pytest.raises(StoppedError):
        finetune(path, report=stopped_at(3))
    assert [one.name for one in (tmp_path / "out.unfinished").glob("checkpoint-*")] == ["checkpoint-1"]
    with pytest.raises(StoppedError):
        finetune(path, report=stopped_at(3))
    assert [one.name for one in (tmp_path / "out.unfinished").glob("checkpoint-*")] == ["checkpoint-2"]
    finetune(path, report=lines.append)
    assert f"resuming from {tmp_path / 'out.unfinished' / 'checkpoint-2'}" in lines


@pytest.mark.parametrize(
    ("seconds", "interval_s"),
    [(0.001, schedules.MIN_INTERVAL_S), (1.0, 50.0), (60.0, schedules.MAX_INTERVAL_S)],
)
def test_checkpoints_take_a_small_share_of_the_time(monkeypatch, seconds, interval_s):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    schedule = schedules.CheckpointSchedule(parse_recipe("{data: {train: t}, out: o, model: {base: m}}"), Alone())
    state, steps = TrainerState(max_steps=10**6), []
    schedule.on_train_begin(None, state, None)
    while state.global_step < 1000:
        state.global_step, now[0], control = state.global_step + 1, now[0] + 1, TrainerControl()
        schedule.on_step_end(None, state, control)
        if control.should_save:
            steps.append(state.global_step)
            schedule.saved(seconds)
    assert steps[0] == 1 and {later - earlier for earlier, later in itertools.pairwise(steps)} == {interval_s}


class Alone:
    num_processes = 1


def interrupted(path, step, error):
    """Return what a run says that gets a Ctrl-C in ``step``, and the error with which it ends."""
    lines = []

    def say(line):
        lines.append(line)
        if line.startswith(f"step {step}/"):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    try:
        with pytest.raises(error) as ended:
            finetune(path, report=say)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    return lines, ended.value


@pytest.mark.slow
def test_ctrl_c_saves_the_step_and_says_how_to_resume(windows, scratch_recipe, tmp_path, undisturbed):
    path = tmp_path / "r.yaml"
    path.write_text(scratch_recipe(windows, tmp_path / "out"))
    lines, _ = interrupted(path, 2, KeyboardInterrupt)
    step = next(int(line.split()[3]) for line in lines if line.startswith("saved after step"))
    assert step in (2, 3) and lines[-1] == f"saved after step {step} of 4; run the same command again to resume"
    lines.clear()
    out = finetune(path, report=lines.append).out
    assert f"resuming from {tmp_path / 'out.unfinished' / f'checkpoint-{step}'}" in lines
    assert logged(out) == pytest.approx(logged(undisturbed), abs=1e-6)


def test_ctrl_c_of_a_run_that_cannot_resume_does_not_promise_it(windows, scratch_recipe, tmp_path, monkeypatch):
    """Of a KeyboardInterrupt the command line says how to resume."""
    (tmp_path / "r.yaml").write_text(scratch_recipe(windows, tmp_path / "out"))
    monkeypatch.setattr(Recipe, "can_resume", False)
    lines, ended = interrupted(tmp_path / "r.yaml", 1, SystemExit)
    assert ended.code == 130 and lines[-1].endswith("it cannot be resumed")


def test_another_strategy_or_number_of_processes_is_rejected(tmp_path):
    recipe = parse_recipe("{data: {train: t}, out: o, model: {base: m}, strategy: zero3}")
    folder = tmp_path / "checkpoint-5"
    folder.mkdir()
    resume.mark_complete(folder, recipe, 2, {})
    assert resume.verify_resumable(folder, recipe, 2, SUBJECT) == []  # older marks do not name the recipe
    with pytest.raises(RecipeError, match=r"saved by 2 processes.*this run has 1; resume with --processes 2"):
        resume.verify_resumable(folder, recipe, 1, SUBJECT)
    with pytest.raises(RecipeError, match="saved under zero3, not single or ddp"):
        resume.verify_resumable(folder, dataclasses.replace(recipe, strategy="ddp"), 2, SUBJECT)
    with pytest.raises(RecipeError, match="does not restore optimizer state from NVMe"):
        resume.verify_resumable(
            folder, dataclasses.replace(recipe, offload=OffloadSettings("nvme", nvme_path="/fast")), 2, SUBJECT
        )


@pytest.fixture
def checkpoint_of(tmp_path):
    """Return a complete, empty checkpoint of a run by a recipe."""

    def made(recipe, processes=1):
        folder = tmp_path / "checkpoint-5"
        folder.mkdir()
        resume.mark_complete(folder, recipe, processes, resume.run_identity(recipe))
        return folder

    return made


def resumed(folder, recipe, processes=1):
    return resume.verify_resumable(folder, recipe, processes, resume.run_identity(recipe))


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("model.base=n", r"saved with model\.base 'm', not 'n'; resume with that, or remove"),
        ("adapter.rank=32", r"saved with adapter\.rank 16, not 32"),
        ("adapter=null", r"saved with an adapter, not without; resume"),
        ("training.learning_rate=1e-3", r"saved with training\.learning_rate 5e-05, not 0\.001"),
        ("optimizer=adafactor", r"saved with optimizer 'adamw', not 'adafactor'"),
        ("precision=bf16", r"saved with precision 'fp32', not 'bf16'"),
        ("training.max_steps=9", r"saved with training\.max_steps None, not 9"),
        ("loss.kl_to_base=0.1", r"saved with loss\.kl_to_base 0\.0, not 0\.1"),
        ("trainer_args.torch_empty_cache_steps=4", r"saved with trainer_args\.torch_empty_cache_steps None, not 4"),
        ("seed=4", "saved with seed 0, not 4"),
        ("data.trim=true", r"saved with data\.trim False, not True"),
        ("training.per_device_train_batch_size=4", "saved with 8 windows in each optimizer step, not 4"),
    ],
)
def test_a_run_does_not_resume_by_another_recipe(windows, checkpoint_of, override, said):
    recipe = parse_recipe(f"{{data: {{train: {windows}}}, out: o, model: {{base: m}}, adapter: {{rank: 16}}}}")
    folder = checkpoint_of(recipe)
    assert resumed(folder, recipe) == []
    with pytest.raises(RecipeError, match=said):
        resumed(folder, with_overrides(recipe, [override]))


def test_an_adapter_is_one_change():
    added = {"seed": (1, 2), "adapter.rank": (None, 8), "adapter.alpha": (None, 16.0)}
    assert describe_changes(added) == "no adapter, not with one, and seed 1, not 2"


def test_another_recipe_is_refused_before_weights_are_loaded(stopped, monkeypatch):
    path, _ = stopped
    monkeypatch.setattr(run, "starting_checkpoint", lambda *_: pytest.fail("weights were loaded"))
    with pytest.raises(RecipeError, match="saved with seed 0, not 4; resume with that"):
        finetune(path, set=["seed=4"], report=lambda _: None)


def test_every_changed_key_is_named(windows, checkpoint_of):
    recipe = parse_recipe(f"{{data: {{train: {windows}}}, out: o, model: {{base: m}}}}")
    changed = with_overrides(recipe, ["seed=2", "training.weight_decay=0.1"])
    with pytest.raises(RecipeError, match=r"seed 0, not 2, and training\.weight_decay 0\.0, not 0\.1; resume with"):
        resumed(checkpoint_of(recipe), changed)


def test_other_data_are_rejected(windows, tmp_path, checkpoint_of):
    recipe = parse_recipe(f"{{data: {{train: {windows}}}, out: o, model: {{base: m}}}}")
    folder, other = checkpoint_of(recipe), tmp_path / "other.jsonl"
    other.write_text(windows.read_text() * 2)
    with pytest.raises(RecipeError, match=r"saved while training on other data than .*other\.jsonl now contains"):
        resumed(folder, with_overrides(recipe, [f"data.train={other}"]))


def test_settings_that_do_not_change_the_weights_may_change_and_are_recorded(windows, checkpoint_of):
    recipe = parse_recipe(f"{{data: {{train: {windows}}}, out: o, model: {{base: m}}}}")
    folder = checkpoint_of(recipe)
    sizes = ["training.per_device_train_batch_size=2", "training.gradient_accumulation_steps=4", "data.workers=2"]
    assert resumed(folder, with_overrides(recipe, sizes)) == [
        {
            "step": 5,
            "changed": {
                "data.workers": [0, 2],
                "training.per_device_train_batch_size": [8, 2],
                "training.gradient_accumulation_steps": [1, 4],
            },
        }
    ]


def test_a_change_during_the_run_is_in_the_record_of_the_checkpoint(stopped):
    path, _ = stopped
    out = finetune(path, set=["training.logging_steps=2"], report=lambda _: None).out
    said = json.loads((out / "lsa_whisper.json").read_text())["provenance"]
    assert said["changes"] == [{"step": 3, "changed": {"training.logging_steps": [1, 2]}}]
    assert said["recipe"]["training"]["logging_steps"] == 2


def test_a_run_resumes_only_with_the_same_recipe(stopped):
    path, folder = stopped
    for override in ("model.scratch.dropout=0.5", "training.learning_rate=1"):
        with pytest.raises(RecipeError, match=rf"checkpoint-3: saved with {override.partition('=')[0]}"):
            finetune(path, set=[override], report=lambda _: None)
    assert (folder / "checkpoint-3").is_dir()


def test_full_copies_resume_in_any_number_of_processes_that_take_the_same_steps(windows, checkpoint_of):
    recipe = parse_recipe(f"{{data: {{train: {windows}}}, out: o, model: {{base: m}}}}")
    folder = checkpoint_of(recipe)
    halved = with_overrides(recipe, ["strategy=ddp", "training.per_device_train_batch_size=4"])
    assert resumed(folder, halved, 2)[0]["changed"]["strategy"] == ["single", "ddp"]
    with pytest.raises(RecipeError, match=r"saved with 8 windows in each optimizer step, not 16"):
        resumed(folder, with_overrides(recipe, ["strategy=ddp"]), 2)


def test_a_repeated_signal_is_ignored_and_a_second_ctrl_c_stops_at_once(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stopping = schedules.StopOnSignal(None)
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):
        stopping._receive(number, None)
    assert stopping.signal == signal.SIGTERM
    now[0] += 3
    stopping._receive(signal.SIGTERM, None)
    with pytest.raises(KeyboardInterrupt):
        stopping._receive(signal.SIGINT, None)


def test_signals_ignored_by_nohup_stay_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    own = signal.signal(signal.SIGTERM, signal.SIG_DFL)  # other libraries may have set theirs
    try:
        with schedules.StopOnSignal(None).handling_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
        signal.signal(signal.SIGTERM, own)


def test_a_signal_during_the_exchange_between_ranks_is_not_lost():
    """All were asked before it came, so this step is not the last one; the next is."""

    class Two:
        num_processes, device = 2, "cpu"

        def gather(self, told):
            if not stopping.signal:
                os.kill(os.getpid(), signal.SIGTERM)
                return told
            return torch.stack((told, torch.zeros_like(told)))

    stopping, control = schedules.StopOnSignal(Two()), TrainerControl()
    with stopping.handling_signals():
        stopping.on_step_end(None, None, control)
        assert not control.should_training_stop and stopping.signal == signal.SIGTERM
        stopping.on_step_end(None, None, control)
    assert control.should_training_stop and control.should_save and stopping.signal == signal.SIGTERM
