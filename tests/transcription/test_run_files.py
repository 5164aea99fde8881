"""What a summary keeps of each outcome, whichever backend ran the tasks."""

from __future__ import annotations

from pathlib import Path

import pool_work
import pytest

from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError, CheckpointError
from lsa_whisper.system.task_scheduler import TaskError, TaskResult, WorkerDiedError
from lsa_whisper.transcription.files.outcome import TranscribedFile
from lsa_whisper.transcription.files.progress import RunLog
from lsa_whisper.transcription.jobs import run_files, run_in_this_process


def recording(name):
    return Recording(Path(name), 1.0, 16_000, 1)


def test_each_job_has_one_line_in_the_order_of_the_jobs(tmp_path):
    names = ("a.wav", "died.wav", "gone.wav", "a.mp3", "defect.wav", "bad.wav")
    jobs = [(Path(name), Path(name).with_suffix(".cha")) for name in names]
    recordings = {Path(name): recording(name) for name in names} | {
        Path("gone.wav"): AudioError("gone.wav: no such file")
    }
    errors = {1: WorkerDiedError("killed by SIGKILL"), 4: ValueError("odd"), 5: AudioError("bad.wav: no sound")}

    def backend(tasks, report):
        assert sorted(tasks) == [0, 1, 4, 5]
        for number in (5, 4, 1):
            yield number, TaskError(errors[number], 2.0)
        yield 0, TaskResult(TranscribedFile(Path("/abs/a.wav"), Path("/abs/a.cha")), 3.0)

    summary = run_files(jobs, recordings, backend, log=RunLog(tmp_path / "log"))
    assert summary.done == (TranscribedFile(Path("a.wav"), Path("a.cha")),) and summary.done[0].took_s == 3.0
    assert [each.path.name for each in summary.failed] == ["died.wav", "gone.wav", "a.mp3", "defect.wav", "bad.wav"]
    reasons = [each.reason for each in summary.failed]
    assert reasons[0].startswith("died.wav: the worker process died twice while transcribing it (killed by SIGKILL)")
    assert reasons[1] == "gone.wav: no such file" and "would replace that of a.wav" in reasons[2]
    assert "defect.wav: unexpected error (ValueError: odd)" in reasons[3] and reasons[4] == "bad.wav: no sound"
    assert summary.exit_code == 5 and len((tmp_path / "log").read_text().splitlines()) == 1 + len(jobs)


def test_the_error_of_a_single_job_is_raised_where_that_is_asked(tmp_path):
    def backend(tasks, report):
        for number in tasks:
            yield number, TaskError(AudioError("no sound"))

    jobs = [(Path("a.wav"), Path("a.cha"))]
    for found in (recording("a.wav"), AudioError("no sound")):
        assert run_files(jobs, {Path("a.wav"): found}, backend).exit_code == 1
        with pytest.raises(AudioError, match="no sound"):
            run_files(jobs, {Path("a.wav"): found}, backend, single_raises=True)


def test_this_process_gives_the_same_outcomes(tmp_path):
    reported = {}
    tasks = pool_work.items(tmp_path, short=1, bad=9, middle=5)
    ended = dict(run_in_this_process(pool_work.work, tasks, reported.setdefault))
    assert ended[0].result == "SHORT" and str(ended[1].error) == "bad: no sound" and ended[2].result == "MIDDLE"
    assert reported == {0: 0.5, 1: 4.5, 2: 2.5} and pool_work.read_log(tmp_path)[0] == ["short", "bad", "middle"]
    with pytest.raises(CheckpointError):
        list(run_in_this_process(pool_work.work, pool_work.items(tmp_path, fatal=1)))
    with pytest.raises(pool_work.TwoPartError):  # a defect is not a failed task
        list(run_in_this_process(pool_work.work, pool_work.items(tmp_path, defect=1)))
