"""Two calls that write the same at once: the second waits or is refused with a sentence, and no lock is left over."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest
from calls import Call, is_one_line_error, signal_at_touch, until

pytestmark = pytest.mark.slow
BUSY = "another command is writing it"


def suspended(job, folder, output):
    """Return a call that has stopped in the midst of its work, with the lock in its hands."""
    first = Call(
        job.typed(folder / "out"),
        output,
        before=partial(signal_at_touch, folder, 1, signal.SIGSTOP, after=str(folder / job.lock)),
    )
    first.until_stopped()
    return first


@pytest.mark.parametrize("verb", ["prepare", "transcribe", "evaluate", "export"])
@pytest.mark.parametrize("end", [signal.SIGCONT, signal.SIGKILL], ids=["until it is done", "until it is killed"])
def test_the_second_waits(verb, end, jobs, undisturbed, tmp_path):
    job, work = jobs[verb], tmp_path / "work"
    first = suspended(job, work, tmp_path / "first")
    second = Call(job.typed(work / "out"), tmp_path / "second")
    until(lambda: BUSY in second.output)
    os.kill(first.pid, end)
    assert first.wait() == (0 if end == signal.SIGCONT else -signal.SIGKILL), first.output
    assert second.wait() == 0, second.output
    job.same(undisturbed(verb), work)


def test_a_second_training_is_refused(jobs, undisturbed, tmp_path):
    job, work = jobs["finetune"], tmp_path / "work"
    first = suspended(job, work, tmp_path / "first")
    second = Call(job.typed(work / "out"), tmp_path / "second")
    assert second.wait() == 1 and BUSY in second.output and is_one_line_error(second.output), second.output
    third = Call([*job.typed(work / "out"), "--set", "data.workers=1"], tmp_path / "third")
    assert third.wait() == 1 and BUSY in third.output
    os.kill(first.pid, signal.SIGCONT)
    assert first.wait() == 0, first.output
    job.same(undisturbed("finetune"), work)
