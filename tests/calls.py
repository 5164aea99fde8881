"""Calls of the command line that begin at once: forked from a process that has imported everything, and done harm to.

What is done before a call (``before``) is a function of this module with its arguments bound, because the call's own
process must find it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import psutil

FORKED = "forkserver"
"""The way to start a process with everything imported."""
_CONTEXT = multiprocessing.get_context(FORKED)
_CONTEXT.set_forkserver_preload(
    [
        "deepspeed",
        "pytest",
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "matplotlib.figure",
        "pyarrow.parquet",
        "rich.progress",
        "soxr",
        "transformers.models.whisper.modeling_whisper",
        "transformers.models.whisper.tokenization_whisper",
        "lsa_whisper.cli",
        "lsa_whisper.preparation",
        "lsa_whisper.inspection.survey_page",
        "lsa_whisper.evaluation.report",
        "lsa_whisper.finetuning.compare_runs",
        "lsa_whisper.checkpoint",
        "lsa_whisper.finetuning.training.run",
        "lsa_whisper.finetuning.training.callbacks",
        "lsa_whisper.transcription.jobs",
        "lsa_whisper.decoding.transformers_engine",
    ]
)
PATIENCE_S = 300
_made: list[Call] = []


class Call:
    """One call of the command line in a session of its own."""

    def __init__(self, words, output, *, before=None, environment=None):
        self.output_path = Path(output)
        words = [str(word) for word in words]
        self.process = _CONTEXT.Process(target=_be, args=(words, str(output), before, environment or {}))
        self.process.start()
        _made.append(self)

    @property
    def pid(self):
        return self.process.pid

    @property
    def output(self):
        return self.output_path.read_text("utf-8", "replace") if self.output_path.exists() else ""

    def wait(self, within_s=PATIENCE_S):
        """Return the exit status, negative where a signal ended it; ``None`` when it still runs."""
        self.process.join(within_s)
        return self.process.exitcode

    def kill(self):
        """Kill it, and what it has started in its session; return the exit status."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:  # it has ended, or does not yet lead a session
            self.process.kill()
        return self.wait()

    def until_stopped(self):
        until(lambda: psutil.Process(self.pid).status() == psutil.STATUS_STOPPED)


def call(words, output, **more):
    """Make a call, wait for it, and return its exit status and everything that it printed."""
    made = Call(words, output, **more)
    status = made.wait()
    if status is None:
        made.kill()
    return status, made.output


def end_all():
    """Kill what a test that failed has left running."""
    while _made:
        made = _made.pop()
        if made.process.exitcode is None:
            made.kill()


def _be(words, output, before, environment):
    os.setsid()
    os.environ |= environment
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print_to(output, os.O_TRUNC)
    import torch

    from lsa_whisper.cli import main

    torch.set_num_threads(1)
    if before:
        before()
    main(words, prog_name="lsa-whisper")


def print_to(path, flag):
    """Let everything that this process prints go to a file, opened with ``flag``."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)


_TOUCHING = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate"}
_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def at_touch(folder, number, act, *arguments, after=None):
    """Call ``act`` just before this process makes its ``number``-th change of a file below ``folder``.

    With ``after``, only changes count that are made when the file of that name exists.
    """
    folder, seen = str(folder), 0

    def hook(event, details):
        nonlocal seen
        if event not in _TOUCHING or (event == "open" and not (details[2] or 0) & _TO_WRITE):
            return
        paths = [os.fsdecode(each) for each in details[:2] if isinstance(each, str | bytes | os.PathLike)]
        inside = any(path.startswith(folder) for path in paths)
        inside |= bool(paths) and not Path(paths[0]).is_absolute()  # shutil.rmtree names files by their folder's handle
        if not inside or (after and not Path(after).exists()):
            return
        seen += 1
        if number in (seen, None):
            act(*arguments)

    sys.addaudithook(hook)


def signal_at_touch(folder, number, which, after=None):
    """Send this process a signal at a change, see :func:`at_touch`."""
    at_touch(folder, number, lambda: os.kill(os.getpid(), which), after=after)


def count_touches(folder, to):
    """Write one byte to ``to`` for every change."""
    handle = os.open(to, os.O_WRONLY | os.O_CREAT, 0o644)
    at_touch(folder, None, os.write, handle, b".")


def no_file_beyond(size):
    """Let the system refuse to make any file larger than ``size`` bytes (EFBIG)."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def until(true, within_s=PATIENCE_S):
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def contents(folder):
    """Return every file below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def contents_but_confidences(folder):
    """Return every file below a folder but the confidences, which every transcript has."""
    return {name: data for name, data in contents(folder).items() if not name.endswith(".confidences.json")}


def shown(folder):
    """Return what a user sees below a folder: no hidden file, and no unfinished run."""
    found = contents(folder).items()
    return {
        name: data for name, data in found if not name.startswith(".") and "/." not in name and "unfini" not in name
    }


def is_one_line_error(output):
    """Tell whether a call ended with one line about what went wrong, and no traceback."""
    ours = [line for line in output.splitlines() if line.startswith("lsa-whisper: ")]
    return len(ours) == 1 and output.rstrip("\n").endswith(ours[0]) and "Traceback" not in output
