"""Launch the ranks of a run on this machine, wait for them, and stop them together."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import RANK_LOST
from lsa_whisper.system.disk import convert_disk_errors
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.machine import usable_cores

GRACE_S = 300
"""Time for ranks to save a checkpoint after a request to stop."""
LAUNCHER = "LSA_WHISPER_LAUNCHER"
"""Environment variable with the launcher's process id: ranks stop when the launcher is gone."""
_POLL_S = 0.2
_SAME_ERROR_S = 10
"""Time for rank 0 to report an error that another rank has reported."""
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def thread_environment(processes: int) -> dict[str, str]:
    """Return the environment in which each of ``processes`` uses its share of the cores, unless it sets its own."""
    return {"OMP_NUM_THREADS": str(max(1, usable_cores() // processes))} | os.environ


def free_port() -> int:
    """Return a free TCP port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def launch(recipe: Path, *, set: Sequence[str], processes: int, out: Path, force: bool = False) -> None:
    """Run the recipe in ``processes`` local ranks and wait for them; show the output of rank 0.

    Each rank logs to its own file in ``OUT.logs``, which is kept if the run fails. A signal that ends this process is
    passed on to all ranks first, which save a checkpoint.

    Raises:
        RecipeError: If a rank failed; its error is in the message, or above if rank 0 printed it.
        KeyboardInterrupt: If Ctrl-C stopped the run; the same command resumes it.
        SystemExit: If another signal stopped it, with that signal's status.
    """
    logs = out.with_name(out.name + ".logs")
    arguments = ["finetune", str(recipe), *(part for override in set for part in ("--set", override))]
    arguments += ["--force"] if force else []
    with convert_disk_errors(logs, RecipeError), write_lock(logs, wait=False):
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        with _restored_signals():
            ranks = _start(arguments, processes, logs)
            try:
                failed = _wait(ranks)
            finally:
                ranks.close(signal.SIGKILL)
        if failed is not None:
            raise RecipeError(_failure_message(recipe, failed, processes, logs, Path(ranks.stderrs[failed])))
        shutil.rmtree(logs)


@contextlib.contextmanager
def _restored_signals() -> Iterator[None]:
    """Restore this process's signal handlers afterwards: torch replaces them while it runs subprocesses."""
    before = {number: signal.getsignal(number) for number in _STOP_SIGNALS}
    names = [number.name for number, handler in before.items() if handler is not signal.SIG_IGN]  # as nohup has it
    os.environ["TORCHELASTIC_SIGNALS_TO_HANDLE"] = ",".join(names)
    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # failures are reported below
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(arguments: Sequence[str], processes: int, logs: Path) -> Any:
    """Start the ranks through torch's process context: each in its own session, with the output of rank 0 shown."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std, start_processes

    environment = {"WORLD_SIZE": str(processes), "LOCAL_WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1"}
    environment |= {"MASTER_PORT": str(free_port()), LAUNCHER: str(os.getpid())}
    environment |= {"OMP_NUM_THREADS": thread_environment(processes)["OMP_NUM_THREADS"]}
    numbers = range(processes)
    return start_processes(
        "rank",
        sys.executable,
        args=dict.fromkeys(numbers, ("-m", "lsa_whisper", *arguments)),
        envs={number: environment | {"RANK": str(number), "LOCAL_RANK": str(number)} for number in numbers},
        logs_specs=DefaultLogsSpecs(str(logs), redirects=Std.ALL, tee={0: Std.ERR}, local_ranks_filter={0}),
        log_line_prefixes={0: ""},
    )


def _wait(ranks: Any) -> int | None:
    """Wait for all ranks; return ``None`` if all succeeded, else the rank that failed first."""
    from torch.distributed.elastic.multiprocessing.api import SignalException

    running = {number: handler.proc for number, handler in ranks.subprocess_handlers.items()}
    try:
        while True:
            codes = {number: process.poll() for number, process in running.items()}
            if failed := [number for number, code in codes.items() if code]:
                return _first_to_fail(failed, ranks.stderrs, running[0])
            if None not in codes.values():
                return None
            time.sleep(_POLL_S)
    except SignalException as received:
        number = signal.SIGINT if received.sigval == signal.SIGINT else signal.SIGTERM
        with contextlib.suppress(SignalException):  # a second signal ends the wait
            ranks.close(number, timeout=GRACE_S)
        if number == signal.SIGINT and running[0].returncode != 128 + number:  # else rank 0 has reported it
            raise KeyboardInterrupt from None
        raise SystemExit(128 + received.sigval) from None


def _first_to_fail(failed: Sequence[int], logs: Mapping[int, str], first: subprocess.Popen[Any]) -> int:
    """Return the rank that failed by itself: the others only lose their connection to it, with long tracebacks.

    All ranks may report the same error in the recipe. Rank 0, whose output is shown, then gets time to report it. A
    rank that loses its connection may be gone, without a traceback, before the one that raised an error has ended.
    """
    own = [number for number in failed if _error_line(Path(logs[number]))]
    if own:
        with contextlib.suppress(subprocess.TimeoutExpired):
            first.wait(_SAME_ERROR_S)
        if first.returncode and _error_line(Path(logs[0])):
            return 0
    raised = [number for number in failed if _traceback(Path(logs[number]))]
    raised = raised or [number for number, log in logs.items() if _traceback(Path(log))]
    return min(own or raised or failed, key=lambda number: (Path(logs[number]).stat().st_mtime_ns, number))


def _error_line(log: Path) -> str:
    """Return the last error message of our command line in a log, empty if there is none."""
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if not line.endswith(RANK_LOST)]
    return next((line for line in reversed(lines) if line.startswith("lsa-whisper: ")), "")


def _failure_message(recipe: Path, number: int, processes: int, logs: Path, log: Path) -> str:
    failure, places = f"{recipe}: rank {number} of {processes} failed", f"logs of all ranks: {logs}"
    own = _error_line(log).removeprefix("lsa-whisper: ")
    if number == 0 or (not own and _show_traceback(log)):
        return f"{failure}; its output is above; {places}"
    last = log.read_text("utf-8", "replace").splitlines()[-1:]
    return f"{failure}: {own or ''.join(last) or 'no output'}; {places}"


def _show_traceback(log: Path) -> bool:
    """Print the traceback in a rank's log; return whether there is one."""
    text = _traceback(log)
    print(text, file=sys.stderr, end="", flush=True)
    return bool(text)


def _traceback(log: Path) -> str:
    """Return the log from its first traceback on, empty without one."""
    _, head, rest = log.read_text("utf-8", "replace").partition("Traceback (most recent call last)")
    return head + rest
