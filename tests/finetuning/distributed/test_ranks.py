from __future__ import annotations

import os

import pytest

from lsa_whisper.finetuning.distributed import ranks

STEP = {
    "SLURM_JOB_ID": "4711",
    "SLURM_STEP_ID": "2",
    "SLURM_STEP_NUM_TASKS": "8",
    "SLURM_STEP_NODELIST": "gpu[03-04]",
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
}


def test_srun_gives_every_process_its_place():
    found = ranks.slurm_ranks(STEP)
    assert found.pop("MASTER_PORT") == str(20_000 + (4711 * 7 + 2) % 20_000)
    assert found == {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "gpu03"}


@pytest.mark.parametrize(
    ("said", "here"),
    [
        ({"SLURM_STEP_TASKS_PER_NODE": "4(x2)"}, "4"),
        ({"SLURM_STEP_TASKS_PER_NODE": "5,3", "SLURM_NODEID": "1", "SLURM_NTASKS_PER_NODE": "5"}, "3"),
        ({"SLURM_NTASKS_PER_NODE": "4"}, "4"),
    ],
)
def test_srun_gives_the_number_of_processes_per_node(said, here):
    assert ranks.slurm_ranks(STEP | said)["LOCAL_WORLD_SIZE"] == here


@pytest.mark.parametrize(("gpus", "local"), [("0,1,2,3", "1"), ("2", "0"), ("", "1")])
def test_a_process_that_is_shown_one_gpu_finds_it_under_nought(gpus, local):
    assert ranks.slurm_ranks(STEP | {"CUDA_VISIBLE_DEVICES": gpus})["LOCAL_RANK"] == local


def test_an_address_of_ones_own_wins():
    found = ranks.slurm_ranks(STEP | {"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "5000"})
    assert (found["MASTER_ADDR"], found["MASTER_PORT"]) == ("10.0.0.1", "5000")


@pytest.mark.parametrize(
    "outside",
    [
        {},
        {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"},  # a job's script, not a step of it
        STEP | {"SLURM_STEP_NUM_TASKS": "1"},
    ],
)
def test_one_process_alone_is_not_one_of_several(outside):
    assert ranks.slurm_ranks(outside) == {}


def test_another_launcher_inside_a_step_wins(monkeypatch):
    for name, value in (STEP | {"RANK": "1", "WORLD_SIZE": "2"}).items():
        monkeypatch.setenv(name, value)
    ranks.join_slurm_step()
    assert ranks.rank() == 1 and os.environ["WORLD_SIZE"] == "2" and "MASTER_ADDR" not in os.environ


def test_the_environment_is_put_back(monkeypatch):
    monkeypatch.setenv("KEPT", "before")
    with pytest.raises(ZeroDivisionError), ranks.restored_environment():
        os.environ |= {"KEPT": "changed", "NEW": "1"}
        raise ZeroDivisionError
    assert os.environ["KEPT"] == "before" and "NEW" not in os.environ
