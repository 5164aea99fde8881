"""Tasks distributed over processes: each has one outcome, whatever dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pool_work
import pytest
from calls import until

from lsa_whisper.errors import AudioError, CheckpointError
from lsa_whisper.system.process_pool import process_pool
from lsa_whisper.system.task_scheduler import TaskError, TaskResult, WorkerDiedError, run_tasks

TESTS = Path(__file__).resolve().parents[1]


def run(tasks, count, **options):
    """Return the outcomes by name, and the progress that was reported first for each number."""
    reported = {}
    with process_pool([pool_work.work] * count) as pool:
        report = reported.setdefault
        ended = list(run_tasks(tasks, pool, count, report, cost=lambda item: item.cost, **options))
    assert len({number for number, _ in ended}) == len(ended)
    return {tasks[number].name: outcome for number, outcome in ended}, reported


def has_ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_the_longest_come_first_and_one_process_does_several(tmp_path):
    ended, reported = run(pool_work.items(tmp_path, short=1, great=9, middle=5), 1)
    names, pids = pool_work.read_log(tmp_path)
    assert names == ["great", "middle", "short"] and len(set(pids)) == 1
    assert {name: each.result for name, each in ended.items()} == {name: name.upper() for name in names}
    assert reported == {0: 0.5, 1: 4.5, 2: 2.5}


def test_a_death_costs_one_task_at_most(tmp_path):
    ended, _ = run(pool_work.items(tmp_path, deadly=9, once=8, bad=7, a=6, b=5, c=4), 2)
    assert {name for name, each in ended.items() if isinstance(each, TaskError)} == {"deadly", "bad"}
    assert isinstance(ended["deadly"].error, WorkerDiedError) and "killed by SIGKILL" in str(ended["deadly"].error)
    assert isinstance(ended["bad"].error, AudioError) and str(ended["bad"].error) == "bad: no sound"
    names, pids = pool_work.read_log(tmp_path)
    assert sorted(names) == sorted(["deadly", "deadly", "once", "once", "bad", "a", "b", "c"])
    tries = [pid for name, pid in zip(names, pids, strict=True) if name in ("deadly", "once")]
    assert len(set(tries)) == 4  # each try in a fresh process


def test_a_fatal_error_ends_the_run_and_its_processes(tmp_path):
    with pytest.raises(CheckpointError, match="no such model"):
        run(pool_work.items(tmp_path, long=9, fatal=8), 2, fatal=(CheckpointError,))
    until(lambda: not multiprocessing.active_children(), 60)


def test_an_unexpected_error_is_printed_and_costs_one_task(tmp_path, capfd):
    ended, _ = run(pool_work.items(tmp_path, defect=2, a=1), 1)
    assert isinstance(ended["a"], TaskResult)
    assert isinstance(ended["defect"].error, RuntimeError) and str(ended["defect"].error) == "not expected"
    assert "Traceback" in capfd.readouterr().err and len(set(pool_work.read_log(tmp_path)[1])) == 1


def test_a_reader_that_stops_early_ends_the_processes(tmp_path):
    tasks = pool_work.items(tmp_path, long=1, a=2)
    with process_pool([pool_work.work] * 2) as pool, closing(run_tasks(tasks, pool, 2)) as ended:
        next(ended)
    until(lambda: not multiprocessing.active_children(), 10)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_the_one_that_started_them(end, tmp_path):
    code = (
        "import pathlib, pool_work, signal, sys\nfrom lsa_whisper.system.process_pool import process_pool\n"
        "from lsa_whisper.system.task_scheduler import run_tasks\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background jobs of a shell ignore Ctrl-C
        "    with process_pool([pool_work.work]) as pool:\n"
        "        list(run_tasks(pool_work.items(pathlib.Path(sys.argv[1]), long=1), pool, 1))\n"
    )
    (tmp_path / "run.py").write_text(code)
    paths = os.pathsep.join([str(TESTS), *sys.path])
    command, environment = [sys.executable, tmp_path / "run.py", tmp_path], os.environ | {"PYTHONPATH": paths}
    parent = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    until((tmp_path / "log").exists, 60)
    until(lambda: pool_work.read_log(tmp_path)[1], 60)
    _, (worker,) = pool_work.read_log(tmp_path)
    parent.send_signal(end)
    parent.wait(15)
    until(lambda: has_ended(worker), 10)
