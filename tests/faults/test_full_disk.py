"""A full disk at any point of the work: a one-line error, unchanged old files, and the same call resumes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from calls import call, contents, is_one_line_error, no_file_beyond, shown

pytestmark = pytest.mark.slow
VERBS = ["prepare", "transcribe", "evaluate", "export", "finetune"]
PAGE = 4096


def leave_free(disk, size):
    """Fill the disk up, all but ``size`` bytes."""
    ballast = disk / "ballast"
    ballast.unlink(missing_ok=True)
    free = os.statvfs(disk).f_bavail * PAGE
    with ballast.open("wb") as file:
        file.write(bytes(max(0, free - size)))
    return ballast


def are_complete(found, *before):
    """Tell whether every file is one that was there before, or that belongs to the new result."""
    return all(any(data == each.get(name) for each in before) for name, data in found.items())


@pytest.mark.parametrize("verb", VERBS)
def test_a_disk_without_room(verb, jobs, undisturbed, disk, tmp_path):
    job, old, new = jobs[verb], undisturbed(verb), undisturbed(verb, other=True)
    shutil.copytree(old / "out", disk / "work" / "out")
    before = contents(disk / "work")
    needed = sum(-(-len(data) // PAGE) * PAGE for data in contents(new).values())
    failed = 0
    for share in (0.0, 0.1, 0.4, 0.7, 0.9):
        ballast = leave_free(disk, int(needed * share))
        status, output = call(job.typed(disk / "work" / "out", other=True), tmp_path / "output")
        ballast.unlink()
        if status == 0:
            break
        assert status == 1 and is_one_line_error(output), output
        assert are_complete(shown(disk / "work"), before, contents(new)), sorted(contents(disk / "work"))
        failed += 1
    assert failed >= 2, output
    status, output = call(job.typed(disk / "work" / "out", other=True), tmp_path / "output")
    assert status == 0, output
    job.same(new, disk / "work")


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_is_refused_in_its_midst(verb, jobs, undisturbed, tmp_path):
    """The same without a disk to fill: the system takes no more than so many bytes into any file."""
    job, new = jobs[verb], undisturbed(verb)
    longest = max(len(data) for data in contents(new).values())
    for size in (0, longest // 2):
        words = job.typed(tmp_path / "work" / "out")
        status, output = call(words, tmp_path / "output", before=partial(no_file_beyond, max(size, 700)))
        assert status == 1 and is_one_line_error(output), output
        assert are_complete(shown(tmp_path / "work"), contents(new)), sorted(contents(tmp_path / "work"))
    status, output = call(job.typed(tmp_path / "work" / "out"), tmp_path / "output")
    assert status == 0, output
    job.same(new, tmp_path / "work")


def test_two_ranks(jobs, disk, tmp_path):
    """The sentence comes through the launcher, whose logs lie on the same disk."""
    words = [*jobs["two ranks"].typed(disk / "out"), "--processes", "2"]
    ballast = leave_free(disk, 12 * PAGE)  # the logs take some, the weights do not fit
    status, output = call(words, tmp_path / "output", environment={"OMP_NUM_THREADS": "1"})
    assert status == 1 and "No space left" in output and "Traceback" not in output, output
    ballast.unlink()
    status, output = call(words, tmp_path / "output", environment={"OMP_NUM_THREADS": "1"})
    assert status == 0 and shown(disk).keys() >= {"out/model.safetensors"}, output


def test_standard_output_on_a_full_disk(jobs):
    transcript = sorted(Path(jobs["prepare"].words[1]).rglob("*.cha"))[0]
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "lsa_whisper", "inspect", transcript]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and is_one_line_error(done.stderr) and "No space left" in done.stderr, done.stderr


def test_a_log_without_room_is_one_sentence(jobs, undisturbed, disk, tmp_path):
    log = disk / "runs.log"
    words = jobs["transcribe"].typed(tmp_path / "out")
    assert call([*words, "--log", log], tmp_path / "output")[0] == 0
    line = log.read_bytes()
    log.write_bytes(line + b"#" * (PAGE - len(line) % PAGE - 1) + b"\n")
    before = log.read_bytes()
    leave_free(disk, 0)
    status, output = call([*words, "--log", log], tmp_path / "output")
    assert status == 1 and is_one_line_error(output) and log.read_bytes() == before, output
