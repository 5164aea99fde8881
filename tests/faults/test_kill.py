"""Killed at any moment and called again, every verb gives the same result as without a kill.

Half of the moments are moments of the clock; the other half come just before a file of the output is opened for
writing, renamed or removed, for in between there is nothing to lose.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from functools import partial

import psutil
import pytest
from calls import Call, call, count_touches, signal_at_touch

from benchmarks import kill_resume
from lsa_whisper.finetuning.distributed.launch import free_port

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("LSA_WHISPER_TEST_KILLS", "20"))


def measured(words, folder):
    """Make a call and return its seconds and the number of its changes."""
    folder.mkdir()
    began = time.monotonic()
    status, output = call(
        words(folder / "out"), folder.parent / "output", before=partial(count_touches, folder, folder.parent / "count")
    )
    assert status == 0, output
    return time.monotonic() - began, (folder.parent / "count").stat().st_size


@pytest.mark.parametrize("verb", ["prepare", "transcribe", "evaluate", "export", "finetune"])
def test_killed_at_twenty_moments(verb, jobs, undisturbed, tmp_path):
    rng, job, work = random.Random(f"{verb} 0"), jobs[verb], tmp_path / "work"
    whole_s, changes = measured(job.typed, tmp_path / "measured")
    work.mkdir()
    killed = ended = 0
    while killed < KILLS or ended == 0:
        before, within_s = None, None
        if killed < KILLS and rng.random() < 0.5:
            before = partial(signal_at_touch, work, rng.randint(1, changes), signal.SIGKILL)
        elif killed < KILLS:
            within_s = rng.uniform(0, whole_s)
        made = Call(job.typed(work / "out"), tmp_path / "output", before=before)
        status = made.wait(within_s) if within_s is not None else made.wait()
        status = made.kill() if status is None else status
        if status == -signal.SIGKILL:
            killed, ended = killed + 1, 0
            continue
        assert status == 0, made.output
        job.same(undisturbed(verb), work)
        ended += 1
        if killed < KILLS:  # it ended before its moment; the next is to be killed in the midst of work, too
            shutil.rmtree(work)
            work.mkdir()


def test_a_run_by_a_recipe_of_the_program_resumes_from_its_default_checkpoints(tmp_path, monkeypatch):
    monkeypatch.setattr(kill_resume, "STEPS", 12)
    recipe = kill_resume.write_recipe(tmp_path)
    began = time.monotonic()
    assert kill_resume.call(recipe, tmp_path / "undisturbed").wait() == 0
    kills = max(1, KILLS // 10)
    rows, difference, _ = kill_resume.disturb(recipe, tmp_path, kills, time.monotonic() - began, random.Random(0))
    assert sum(row["killed"] for row in rows) == kills and difference == 0
    assert all(row["resumed_from"] for row in rows if row["checkpoint_before"])


def test_prepare_in_several_processes(jobs, undisturbed, tmp_path):
    rng, words = random.Random(1), [*jobs["prepare"].typed(tmp_path / "work" / "out"), "--processes", "2"]
    for _ in range(max(1, KILLS // 5)):
        made = Call(words, tmp_path / "output")
        if made.wait(rng.uniform(0.2, 2)) is None:
            made.kill()
    status, output = call(words, tmp_path / "output")
    assert status == 0, output
    jobs["prepare"].same(undisturbed("prepare"), tmp_path / "work")


def ranks(words, folder):
    """Start two processes that train together, as torchrun and SLURM do."""
    meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    places = [meeting | {"RANK": str(number), "LOCAL_RANK": str(number)} for number in range(2)]
    return [Call(words, folder / f"output{number}", environment=place) for number, place in enumerate(places)]


def test_two_ranks(jobs, tmp_path):
    """Whichever dies first, the other is ended a little later, as launchers do."""
    job, work = jobs["two ranks"], tmp_path / "work"
    began = time.monotonic()
    (tmp_path / "whole").mkdir()
    assert [rank.wait() for rank in ranks(job.typed(tmp_path / "whole" / "out"), tmp_path)] == [0, 0]
    whole_s, rng = time.monotonic() - began, random.Random(2)
    for _ in range(max(1, KILLS // 4)):
        together = ranks(job.typed(work / "out"), tmp_path)
        time.sleep(rng.uniform(0.3, 1) * whole_s)
        for rank in rng.sample(together, 2):
            rank.kill()
            time.sleep(rng.uniform(0, 0.2))
    last = ranks(job.typed(work / "out"), tmp_path)
    assert [rank.wait() for rank in last] == [0, 0], last[0].output
    job.same(tmp_path / "whole", work)


def test_the_launcher_of_two_ranks(jobs, tmp_path):
    """Its ranks save and end by themselves; until they have, the next call is refused, and then goes on."""
    work = tmp_path / "work"
    steps = ("training.max_steps=400", "training.save_steps=400", "evaluation.every_steps=400")
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    words = [
        *jobs["two ranks"].typed(work / "out"),
        *(word for key in steps for word in ("--set", key)),
        "--processes",
        "2",
    ]
    made = Call(words, tmp_path / "output", environment=environment)
    while "step 3/" not in made.output:
        assert made.wait(0.1) is None, made.output
    started = psutil.Process(made.pid).children()
    os.kill(made.pid, signal.SIGKILL)  # it alone
    assert made.wait() == -signal.SIGKILL
    status, output = call(words, tmp_path / "output", environment=environment)
    assert (status == 1 and "another command is writing it" in output) or "resuming from" in output
    _, alive = psutil.wait_procs(started, timeout=60)
    assert alive == []
    (saved,) = (work / "out.unfinished").glob("checkpoint-*") if status else [work / "out" / "config.json"]
    assert saved.exists()
