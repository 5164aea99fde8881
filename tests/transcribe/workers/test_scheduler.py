"""Recordings shared out: each has one outcome, whatever dies."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pool_work
import pytest

from lsa_whisper.errors import CheckpointError
from lsa_whisper.transcribe.files.outcome import FailedFile, TranscribedFile
from lsa_whisper.transcribe.workers.processes import processes
from lsa_whisper.transcribe.workers.scheduler import run_tasks

TESTS = Path(__file__).resolve().parents[2]


def share(tasks, count):
    """Return the outcomes by name, and the seconds that were told of each."""
    told = {}
    with processes([pool_work.write] * count) as pool:
        ended = list(run_tasks(tasks, pool, count, lambda number, at_s: told.setdefault(number, at_s)))
    assert len({number for number, _ in ended}) == len(ended)
    return {tasks[number].target.stem: outcome for number, outcome in ended}, told


def until(true, seconds=60.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_the_longest_come_first_and_one_process_does_several(tmp_path):
    tasks = pool_work.tasks(tmp_path, short=1, longest=9, middle=5)
    tasks[1] = pool_work.tasks(tmp_path, x=0, great=9)[1]  # "longest" would sleep
    ended, told = share(tasks, 1)
    names, pids = pool_work.log_of(tmp_path)
    assert names == ["great", "middle", "short"] and len(set(pids)) == 1
    assert all(isinstance(each, TranscribedFile) for each in ended.values()) and told == {0: 0.5, 1: 4.5, 2: 2.5}


def test_a_death_costs_one_recording_at_most(tmp_path):
    tasks = pool_work.tasks(tmp_path, deadly=9, once=8, bad=7, a=6, b=5, c=4)
    ended, _ = share(tasks, 2)
    assert {name for name, each in ended.items() if isinstance(each, FailedFile)} == {"deadly", "bad"}
    assert "died twice (killed by SIGKILL" in ended["deadly"].reason and "no sound" in ended["bad"].reason
    names, pids = pool_work.log_of(tmp_path)
    assert sorted(names) == sorted(["deadly", "deadly", "once", "once", "bad", "a", "b", "c"])
    tries = [pid for name, pid in zip(names, pids, strict=True) if name in ("deadly", "once")]
    assert len(set(tries)) == 4  # each try in a fresh process


def test_a_model_that_cannot_be_loaded_ends_the_run_and_its_processes(tmp_path):
    with pytest.raises(CheckpointError, match="no such model"):
        share(pool_work.tasks(tmp_path, long=9, hopeless=8), 2)
    until(lambda: not multiprocessing.active_children())


def test_processes_end_with_the_one_that_started_them(tmp_path):
    code = (
        "import sys, pathlib, pool_work\nfrom lsa_whisper.transcribe.workers.scheduler import run_tasks\n"
        "from lsa_whisper.transcribe.workers.processes import processes\n"
        "if __name__ == '__main__':\n"
        "    with processes([pool_work.write]) as pool:\n"
        "        list(run_tasks(pool_work.tasks(pathlib.Path(sys.argv[1]), long=1), pool, 1, print))\n"
    )
    (tmp_path / "run.py").write_text(code)
    paths = os.pathsep.join([str(TESTS), *sys.path])
    run = subprocess.Popen([sys.executable, tmp_path / "run.py", tmp_path], env=os.environ | {"PYTHONPATH": paths})
    until((tmp_path / "log").exists)
    _, (worker,) = pool_work.log_of(tmp_path)
    run.kill()
    run.wait()
    until(lambda: gone(worker), 10)
