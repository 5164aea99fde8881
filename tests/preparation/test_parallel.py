"""Several processes: the same bytes as one, and no process hides its trouble."""

import os
import signal

import pytest
from calls import contents

from lsa_whisper.errors import AudioError, CorpusError
from lsa_whisper.preparation import prepare
from lsa_whisper.preparation.parallel import map_parallel


def act(task: tuple[str, str]) -> str:
    """Do what the task says, in a process of its own."""
    what, value = task
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "raise":
        raise AudioError(value)
    return value


@pytest.mark.parametrize("processes", [1, 3])
def test_every_task_is_done_once(processes):
    tasks = [("say", str(at)) for at in range(20)]
    assert sorted(map_parallel(act, tasks, processes)) == [(at, str(at)) for at in range(20)]


def test_more_processes_write_the_same_bytes(session, talk, tmp_path):
    for at in range(7):
        folder = session(f"s{at}", talk(5 + 4 * at))
    (folder / "s3.wav").write_bytes(b"no wav")
    one = prepare([folder], tmp_path / "one", context_s=10)
    three = prepare([folder], tmp_path / "three", context_s=10, processes=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "three")
    assert one.splits == three.splits and one.skipped_files == three.skipped_files != []


def test_an_error_in_a_process_is_the_callers():
    with pytest.raises(AudioError, match="not readable"):
        list(map_parallel(act, [("say", "a"), ("raise", "not readable"), ("say", "b")], 2))


def test_the_item_of_a_process_that_dies_twice_is_named():
    with pytest.raises(CorpusError, match=r"^\('die', 'broken'\): the worker process died twice.*call again"):
        list(map_parallel(act, [("say", "a"), ("die", "broken"), ("say", "b")], 2))


def test_no_processes_at_all(session, talk, tmp_path):
    with pytest.raises(CorpusError, match="`processes=0`"):
        prepare([session("s", talk(2))], tmp_path / "out", processes=0)
