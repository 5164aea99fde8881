"""A lock ends with the process that holds it, however that ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.lock import is_abandoned, write_lock

HOLDER = """
import os, sys, time
from pathlib import Path
from lsa_whisper.system.lock import write_lock
with write_lock(Path(sys.argv[1])):
    {first}
    print("held", flush=True)
    time.sleep(60)
"""


def holder(target, first="pass"):
    """Return a process that holds the lock for a minute, once it has it."""
    command = [sys.executable, "-c", HOLDER.format(first=first), target]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_writer_waits_until_the_first_ends(tmp_path, capfd):
    target, entered = tmp_path / "visit.cha", threading.Event()
    first = holder(target)
    with (
        pytest.raises(LsaWhisperError, match="another command is writing it; wait until it ends"),
        write_lock(target, wait=False),
    ):
        pass

    def second():
        with write_lock(target):
            entered.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert not entered.wait(0.5) and not is_abandoned(target)
    first.kill()
    thread.join(30)
    assert entered.is_set() and "another command is writing it; waiting" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
    first.wait()


def test_names_of_maximum_length_have_separate_locks(tmp_path):
    first, second = (tmp_path / ("語" * 82 + letter + ".cha") for letter in "ab")
    with write_lock(first, wait=False), write_lock(second, wait=False):
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_forked_process_does_not_hold_the_lock(tmp_path):
    """Data loaders are such copies, and may live some seconds longer than the run that was killed."""
    forking = (
        "ready, started = os.pipe()",
        "if os.fork() == 0: os.write(started, b'.'); time.sleep(60); os._exit(0)",
        "os.read(ready, 1)",  # killed before it runs, the copy could not have let go yet
    )
    first = holder(tmp_path / "out", "\n    ".join(forking))
    try:
        first.kill()
        first.wait()
        assert is_abandoned(tmp_path / "out")
        with write_lock(tmp_path / "out", wait=False):
            pass
        assert not is_abandoned(tmp_path / "out")
    finally:
        os.killpg(first.pid, signal.SIGKILL)


def test_file_systems_without_locks_are_supported(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", no_locks)
    with write_lock(tmp_path / "a" / "visit.cha", wait=False):
        (tmp_path / "a" / "visit.cha").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["visit.cha"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
def test_a_folder_in_which_no_file_can_be_is_refused():
    with pytest.raises(OSError), write_lock(Path("/proc/model")):
        pass
