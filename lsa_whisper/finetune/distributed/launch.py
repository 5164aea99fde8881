"""Several processes of this machine for one run: started, watched and ended together."""

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

from lsa_whisper.disk import convert_disk_errors
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.distributed.ranks import RANK_LOST, is_launched
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.lock import write_lock

GRACE_S = 300
"""How long processes may take to save what they learned after they were told to stop."""
LAUNCHER = "LSA_WHISPER_LAUNCHER"
"""Holds the id of the launching process for those it started: when it is gone, so are they."""
_LOOK_S = 0.2
_SAME_FAULT_S = 10
"""How long the first process may take to find the fault that another one has found."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def thread_environment(processes: int) -> dict[str, str]:
    """Return the environment in which each of so many processes takes its share of the cores, if not told otherwise."""
    return {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // processes))} | os.environ


def free_port() -> int:
    """Return a port of this machine that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def check_processes(recipe: Recipe, processes: int) -> None:
    """Return when so many processes of this machine, or those that a launcher started, can train by ``recipe``.

    Raises:
        RecipeError: If they cannot.
    """
    if processes < 1:
        raise RecipeError(f"--processes: 1 or more, not {processes}")
    together = int(os.environ["WORLD_SIZE"]) if is_launched() else processes
    if recipe.auto_micro_batch and together > 1:
        raise RecipeError(
            "auto_micro_batch: of several processes one alone cannot turn back; leave it out, or use --processes 1"
        )
    if processes == 1 or is_launched() or recipe.training.get("use_cpu"):
        return
    import torch

    if 0 < (gpus := torch.cuda.device_count()) < processes:
        raise RecipeError(f"--processes: {processes} need a GPU each, and there are {gpus}; use --processes {gpus}")


def launch(recipe: Path, *, set: Sequence[str], processes: int, out: Path, force: bool = False) -> None:
    """Run the recipe in ``processes`` local processes and wait for them; the first one's lines are shown.

    Each writes to its own file in ``OUT.logs``, which is kept when the run does not end well. A signal that ends this
    process goes to all of them first, and they save what they learned.

    Raises:
        RecipeError: If a process failed; what it said is in the message, or above when the first one said it.
        KeyboardInterrupt: If the run was stopped by Ctrl-C; the same command goes on.
        SystemExit: If it was stopped by another signal, with that signal's status.
    """
    logs = out.with_name(out.name + ".logs")
    words = ["finetune", str(recipe), *(part for override in set for part in ("--set", override))]
    words += ["--force"] if force else []
    with convert_disk_errors(logs, RecipeError), write_lock(logs, wait=False):
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        with _own_signals():
            ranks = _start(words, processes, logs)
            try:
                failed = _watch(ranks)
            finally:
                ranks.close(signal.SIGKILL)
        if failed is not None:
            raise RecipeError(_what_failed(recipe, failed, processes, logs, Path(ranks.stderrs[failed])))
        shutil.rmtree(logs)


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Put back what this process does at a signal: torch takes the signals over for as long as it starts others."""
    before = {number: signal.getsignal(number) for number in _ENDING}
    heard = [number.name for number, handler in before.items() if handler is not signal.SIG_IGN]  # as nohup has it
    os.environ["TORCHELASTIC_SIGNALS_TO_HANDLE"] = ",".join(heard)
    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # what it says of them, we say ourselves
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(words: Sequence[str], processes: int, logs: Path) -> Any:
    """Start the processes through torch's own context: each is a session of its own, and the first one is heard."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std, start_processes

    together = {"WORLD_SIZE": str(processes), "LOCAL_WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1"}
    together |= {"MASTER_PORT": str(free_port()), LAUNCHER: str(os.getpid())}
    together |= {"OMP_NUM_THREADS": thread_environment(processes)["OMP_NUM_THREADS"]}
    numbers = range(processes)
    return start_processes(
        "rank",
        sys.executable,
        args=dict.fromkeys(numbers, ("-m", "lsa_whisper", *words)),
        envs={number: together | {"RANK": str(number), "LOCAL_RANK": str(number)} for number in numbers},
        logs_specs=DefaultLogsSpecs(str(logs), redirects=Std.ALL, tee={0: Std.ERR}, local_ranks_filter={0}),
        log_line_prefixes={0: ""},
    )


def _watch(ranks: Any) -> int | None:
    """Wait until all have ended well and return nothing, or one has failed and return its number."""
    from torch.distributed.elastic.multiprocessing.api import SignalException

    running = {number: handler.proc for number, handler in ranks.subprocess_handlers.items()}
    try:
        while True:
            codes = {number: process.poll() for number, process in running.items()}
            if failed := [number for number, code in codes.items() if code]:
                return _first_to_fail(failed, ranks.stderrs, running[0])
            if None not in codes.values():
                return None
            time.sleep(_LOOK_S)
    except SignalException as told:
        asked = signal.SIGINT if told.sigval == signal.SIGINT else signal.SIGTERM
        with contextlib.suppress(SignalException):  # told once more, we wait no longer
            ranks.close(asked, timeout=GRACE_S)
        if asked == signal.SIGINT and running[0].returncode != 128 + asked:  # else the first one has said it
            raise KeyboardInterrupt from None
        raise SystemExit(128 + told.sigval) from None


def _first_to_fail(failed: Sequence[int], logs: Mapping[int, str], first: subprocess.Popen[Any]) -> int:
    """Return the process that failed of itself: the others lose their connection to it, and say so at length.

    All may have found the same fault in the recipe. Then the first one's words are shown, so it gets the time for them.
    """
    own = [number for number in failed if _own_words(Path(logs[number]))]
    if own:
        with contextlib.suppress(subprocess.TimeoutExpired):
            first.wait(_SAME_FAULT_S)
        if first.returncode and _own_words(Path(logs[0])):
            return 0
    return min(own or failed, key=lambda number: (Path(logs[number]).stat().st_mtime_ns, number))


def _own_words(log: Path) -> str:
    """Return the line with which our command line ends when the user can mend it; empty when there is none."""
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if not line.endswith(RANK_LOST)]
    return next((line for line in reversed(lines) if line.startswith("lsa-whisper: ")), "")


def _what_failed(recipe: Path, number: int, processes: int, logs: Path, log: Path) -> str:
    told, kept = f"{recipe}: process {number} of {processes} failed", f"all processes' logs are in {logs}"
    own = _own_words(log).removeprefix("lsa-whisper: ")
    if number == 0 or (not own and _show_traceback(log)):
        return f"{told}; its lines are above; {kept}"
    last = log.read_text("utf-8", "replace").splitlines()[-1:]
    return f"{told}: {own or ''.join(last) or 'nothing'}; {kept}"


def _show_traceback(log: Path) -> bool:
    """Show the traceback in a process's log, as the first one's is shown when it comes; tell whether there is one."""
    _, head, rest = log.read_text("utf-8", "replace").partition("Traceback (most recent call last)")
    print(head + rest, file=sys.stderr, end="", flush=True)
    return bool(head)
