"""Several real processes: every launcher's way to start them, and what becomes of them when one ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch
from training_run import logged

from lsa_whisper import checkpoint
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.distributed.launch import _first_to_fail, free_port

pytestmark = pytest.mark.slow
PYTHON = [sys.executable, "-m"]
OURS = ["lsa_whisper", "finetune"]
TORCHRUN = [*PYTHON, "torch.distributed.run"]


@pytest.fixture(scope="module")
def environment():
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    more = {"OMP_NUM_THREADS": "1", "PATH": programs, "PYTHONPATH": str(Path.cwd()), "DS_ACCELERATOR": "cpu"}
    return os.environ | more


def start(environment, *words, **more):
    return subprocess.Popen(
        [str(word) for word in words],
        env=environment | more,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # As from a terminal: background jobs of a shell ignore Ctrl-C, and the tests may run as one.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.fixture(scope="module")
def alone(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    (folder / "r.yaml").write_text(scratch_recipe(windows, folder / "out"))
    return logged(finetune(folder / "r.yaml", report=lambda _: None).out)


def torchrun(recipe):
    yield [*TORCHRUN, "--standalone", "--nproc-per-node=2", "-m", *OURS, recipe], {}


def two_nodes(recipe, each=1):
    """Two agents, as on two nodes, each with an address of its own and with ``each`` processes."""
    meeting = ["--nnodes=2", f"--nproc-per-node={each}", "--master-addr=127.0.0.1", f"--master-port={free_port()}"]
    for node in range(2):
        place = [f"--node-rank={node}", f"--local-addr=127.0.0.{node + 1}"]
        yield [*TORCHRUN, *meeting, *place, "-m", *OURS, recipe], {}


def srun(recipe):
    step = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    for number in range(2):
        place = {"SLURM_PROCID": str(number), "SLURM_LOCALID": str(number), "SLURM_STEP_NODELIST": "localhost"}
        yield [*PYTHON, *OURS, recipe], step | place


def accelerate(recipe):
    which = [
        "--multi_gpu",
        "--num_processes=2",
        "--num_machines=1",
        f"--main_process_port={free_port()}",
        "--mixed_precision=no",
    ]
    yield [*PYTHON, "accelerate.commands.launch", *which, "--dynamo_backend=no", "-m", *OURS, recipe], {}


def deepspeed(recipe):
    which = ["--no_local_rank", "--num_gpus=2", f"--master_port={free_port()}", "--module"]
    yield [*PYTHON, "deepspeed.launcher.runner", *which, *OURS, recipe], {}


@pytest.mark.parametrize("launcher", [torchrun, two_nodes, srun, accelerate, deepspeed])
def test_the_same_command_under_every_launcher(windows, scratch_recipe, tmp_path, environment, alone, launcher):
    recipe, out = tmp_path / "r.yaml", tmp_path / "out"
    text = scratch_recipe(windows, out, extra="strategy: ddp")
    recipe.write_text(text.replace("per_device_train_batch_size: 2", "per_device_train_batch_size: 1"))
    if launcher is deepspeed:
        pytest.importorskip("deepspeed")
    run(environment, launcher(recipe))
    assert logged(out) == pytest.approx(alone, abs=1e-4)


def run(environment, commands):
    """Start all ``commands`` and wait for their good end."""
    started = [start(environment, *command, **more) for command, more in commands]
    for process in started:
        _, errors = process.communicate(timeout=900)
        assert process.returncode == 0, errors[-3000:]


def test_hybrid_over_two_nodes_loses_what_one_process_does(windows, scratch_recipe, tmp_path, environment):
    text = scratch_recipe(windows, "OUT", extra="trainer_args: {dataloader_drop_last: true}")
    together, alone = tmp_path / "together.yaml", tmp_path / "alone.yaml"
    alone.write_text(text.replace("OUT", str(tmp_path / "one")).replace("batch_size: 2", "batch_size: 4"))
    hybrid = "strategy: fsdp2\nfsdp: {sharding_strategy: hybrid_shard}\ntraining:"
    text = text.replace("OUT", str(tmp_path / "four")).replace("batch_size: 2", "batch_size: 1")
    together.write_text(text.replace("training:", hybrid))
    run(environment, two_nodes(together, each=2))
    finetune(alone, report=lambda _: None)
    assert logged(tmp_path / "four") == pytest.approx(logged(tmp_path / "one"), abs=1e-4)
    weights = [checkpoint.load(tmp_path / name).model.state_dict() for name in ("one", "four")]
    for name, tensor in weights[0].items():
        torch.testing.assert_close(weights[1][name], tensor, atol=2e-4, rtol=0)


@pytest.fixture
def running(windows, scratch_recipe, tmp_path, environment):
    """A launched run of two processes that would last for hours, in the midst of its steps."""
    path = tmp_path / "r.yaml"
    path.write_text(scratch_recipe(windows, tmp_path / "out", extra="strategy: ddp"))
    command = [*PYTHON, *OURS, path, "--processes", "2", "--set", "training.max_steps=100000"]
    launcher = start(environment, *command)
    lines = []
    for line in launcher.stderr:
        lines.append(line)
        if line.startswith("step 3/"):
            break
    ranks = [child for child in psutil.Process(launcher.pid).children() if "finetune" in " ".join(child.cmdline())]
    assert len(ranks) == 2, "".join(lines)
    yield launcher, ranks, tmp_path
    for process in (*ranks, psutil.Process(launcher.pid) if launcher.poll() is None else None):
        if process is not None and process.is_running():
            process.kill()


def ended(ranks, within_s=120):
    return len(psutil.wait_procs(ranks, timeout=within_s)[1]) == 0


@pytest.mark.parametrize(("told", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_the_launcher_saves_and_ends_all(running, told, status):
    launcher, ranks, folder = running
    launcher.send_signal(told)
    _, errors = launcher.communicate(timeout=900)
    assert launcher.returncode == status, errors[-3000:]
    assert ended(ranks)
    assert (
        len(re.findall(r"saved after step .*; run the same command again to resume\n", errors)) == 1
        and "Traceback" not in errors
    )
    (saved,) = (folder / "out.unfinished").glob("checkpoint-*")
    assert json.loads((saved / "complete.json").read_text())["processes"] == 2


def test_when_one_process_dies_the_others_are_ended_and_it_is_named(running):
    launcher, ranks, folder = running
    dead = next(rank for rank in ranks if rank.environ()["RANK"] == "1")
    dead.kill()
    _, errors = launcher.communicate(timeout=900)
    assert launcher.returncode == 1 and ended(ranks)
    assert errors.count("rank 1 of 2 failed") == 1
    assert len(list((folder / "out.logs").rglob("stderr.log"))) == 2


def test_processes_end_when_the_launcher_is_killed(running):
    launcher, ranks, _ = running
    launcher.kill()
    assert ended(ranks, within_s=120)


def test_a_problem_of_all_processes_is_reported_once(windows, scratch_recipe, tmp_path, environment):
    path = tmp_path / "r.yaml"
    path.write_text(scratch_recipe(windows, tmp_path / "out", extra="strategy: ddp"))
    launcher = start(environment, *PYTHON, *OURS, path, "--processes", "2", "--set", "data.language=vec")
    _, errors = launcher.communicate(timeout=900)
    assert launcher.returncode == 1
    assert errors.count("does not support the language 'vec'") == 1 and "Traceback" not in errors
    assert f"its output is above; logs of all ranks: {tmp_path / 'out.logs'}" in errors


def test_a_rank_that_raised_is_named_although_another_one_ended_first(tmp_path):
    """The connection breaks while the first one is still ending; the other one is then gone without a traceback."""
    logs = {rank: str(tmp_path / f"{rank}.log") for rank in range(2)}
    Path(logs[0]).write_text("step 2/90\nTraceback (most recent call last)\nZeroDivisionError\n")
    Path(logs[1]).write_text("terminate called without an active exception\n")
    ending = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert _first_to_fail([1], logs, ending) == 0
    ending.communicate(b"\n")
    Path(logs[0]).write_text("step 2/90\n")
    assert _first_to_fail([1], logs, ending) == 1
