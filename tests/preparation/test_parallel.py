"""Several processes: the same bytes as one, and no process outlives its parent or hides its trouble."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from lsa_whisper.errors import AudioError, CorpusError
from lsa_whisper.preparation import prepare
from lsa_whisper.preparation.parallel import map_parallel


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def act(task: tuple[str, str]) -> str:
    """Do what the task says, in a process of its own."""
    what, value = task
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "raise":
        raise AudioError(value)
    elif what == "sleep":
        Path(value).write_text(str(os.getpid()))
        time.sleep(60)
    return value


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def gone_within(seconds: float, pid: int) -> bool:
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(pid)


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


def test_a_reader_that_stops_stops_the_processes(tmp_path):
    tasks = [("sleep", str(tmp_path / "pid")), ("say", "a"), ("say", "b")]
    began = time.monotonic()
    with closing(map_parallel(act, tasks, 2)) as done:
        next(done)
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.05)
    assert time.monotonic() - began < 30 and gone_within(5, int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_its_parent(tmp_path, end):
    tasks = [("sleep", str(tmp_path / "one")), ("sleep", str(tmp_path / "two"))]
    code = "from tests.preparation.test_parallel import act; from lsa_whisper.preparation.parallel import map_parallel;"
    code += f"list(map_parallel(act, {tasks!r}, 2))"
    root = Path(__file__).parents[2]

    # As from a terminal: background jobs of a shell ignore Ctrl-C, and the tests may run as one.
    def hear() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    parent = subprocess.Popen([sys.executable, "-c", code], cwd=root, stderr=subprocess.DEVNULL, preexec_fn=hear)
    files = [tmp_path / "one", tmp_path / "two"]
    until = time.monotonic() + 30
    while not all(file.exists() and file.read_text() for file in files) and time.monotonic() < until:
        time.sleep(0.05)
    parent.send_signal(end)
    parent.wait(15)
    assert all(gone_within(5, int(file.read_text())) for file in files)


def test_no_processes_at_all(session, talk, tmp_path):
    with pytest.raises(CorpusError, match="`processes=0`"):
        prepare([session("s", talk(2))], tmp_path / "out", processes=0)
