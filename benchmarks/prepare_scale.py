"""Whether preparation grows with the corpus as it should, time in proportion and memory not; and that kills do no harm.

Sessions of a few seconds of quiet noise are made, so that what is measured is the cost of a session, not of its sound.
Each size is prepared in a process group of its own, whose memory (its processes together) is watched. Then preparation
is killed at ten random moments, called to its end, and every file compared with that of an undisturbed call.

    python -m benchmarks.prepare_scale --processes 2
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import soundfile as sf

from benchmarks import result

KILLS = 10
KILLED_SESSIONS = 500
SECONDS = 4.0
_WATCH_S = 0.05
_HEAD = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Target_Child, MOT Mother\n"
_IDS = "@ID:\teng|x|CHI|||||Target_Child|||\n@ID:\teng|x|MOT|||||Mother|||\n"
_LINES = (("CHI", "&-um I want [/] want it ."), ("MOT", "the <big dog> [//] small cat ran ."), ("CHI", "go home ?"))


def main() -> None:
    """Measure every size, kill and compare, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 1_000, 10_000])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--sessions-to-kill", type=int, default=KILLED_SESSIONS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        runs = [
            measure(make(work / f"corpus{size}", size), work / "out", size, options.processes) for size in options.sizes
        ]
        corpus = make(work / "killed", options.sessions_to_kill)
        kills = kill(corpus, work, options.processes)
    result.write(
        "prepare_scale",
        ("soundfile", "numpy"),
        f"generated sessions of {SECONDS:g} s with {len(_LINES)} utterances each",
        processes=options.processes,
        runs=runs,
        cpu_milliseconds_per_further_session=further(runs),
        kills=kills,
    )


def make(folder: Path, sessions: int) -> Path:
    """Write ``sessions`` transcripts and recordings of quiet noise to ``folder`` and return it."""
    rng = np.random.default_rng(0)
    noise = (0.01 * rng.standard_normal(int(16_000 * (SECONDS + 1)))).astype(np.float32)
    for at in range(sessions):
        path = folder / f"{at // 100:03}" / f"s{at:05}"
        path.parent.mkdir(parents=True, exist_ok=True)
        first = int(rng.integers(16_000))  # each session sounds different, or it would count as a copy
        sf.write(path.with_suffix(".wav"), noise[first : first + int(16_000 * SECONDS)], 16_000)
        tiers = "".join(
            f"*{who}:\t{text} \x15{200 + 1200 * line}_{1300 + 1200 * line}\x15\n"
            for line, (who, text) in enumerate(_LINES)
        )
        path.with_suffix(".cha").write_text(f"{_HEAD}{_IDS}@Media:\ts{at:05}, audio\n{tiers}@End\n", "utf-8")
    return folder


def start(corpus: Path, out: Path, processes: int, shards: int = 0) -> subprocess.Popen[bytes]:
    """Return the running command line, the leader of its own process group."""
    command = [sys.executable, "-m", "lsa_whisper", "prepare", str(corpus), "-o", str(out)]
    command += ["--processes", str(processes), "--shards", str(shards)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


def measure(corpus: Path, out: Path, sessions: int, processes: int) -> dict[str, Any]:
    """Return seconds and peak memory of preparing ``corpus``, processes taken together."""
    began, cpu_began = time.monotonic(), cpu_seconds()
    job, peak = start(corpus, out / str(sessions), processes), 0
    while job.poll() is None:
        peak = max(peak, resident_bytes(job.pid))
        time.sleep(_WATCH_S)
    seconds = time.monotonic() - began
    if job.returncode:
        raise SystemExit(f"prepare failed on {sessions} sessions")
    figures = {
        "sessions": sessions,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds() - cpu_began, 1),
        "peak_mb": round(peak / 1e6),
    }
    print(figures, file=sys.stderr)
    return figures


def cpu_seconds() -> float:
    """Return the processor time of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def further(runs: list[dict[str, Any]]) -> list[float]:
    """Return what each further session costs from one size to the next: the same at every size if time is linear.

    In processor time, because other work on the machine makes the clock say anything.
    """
    return [
        round(1000 * (after["cpu_seconds"] - before["cpu_seconds"]) / (after["sessions"] - before["sessions"]), 2)
        for before, after in pairwise(runs)
    ]


def resident_bytes(group: int) -> int:
    """Return the memory of the processes in ``group``, shared pages counted in each of them."""
    pages = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since it was listed
            continue
        pages += int(fields[21]) if int(fields[2]) == group else 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def kill(corpus: Path, work: Path, processes: int) -> dict[str, Any]:
    """Return when preparation was killed, after comparing its files with those of an undisturbed call."""
    began = time.monotonic()
    start(corpus, work / "whole", processes, 2).wait()
    whole_s = time.monotonic() - began
    rng, moments = random.Random(0), []
    while len(moments) < KILLS:
        job = start(corpus, work / "disturbed", processes, 2)
        # What is finished is not done again, so later calls are shorter, and some end before their moment.
        moment = rng.uniform(0.1, 0.6) * whole_s
        try:
            job.wait(moment)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            moments.append(round(moment, 2))
            job.wait()
    start(corpus, work / "disturbed", processes, 2).wait()
    undisturbed, disturbed = digests(work / "whole"), digests(work / "disturbed")
    if undisturbed != disturbed:
        raise SystemExit(f"killed calls left other files: {sorted(set(undisturbed.items()) ^ set(disturbed.items()))}")
    return {"killed_after_seconds": moments, "files": len(disturbed), "same_bytes": True}


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below ``folder``, by name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


if __name__ == "__main__":
    main()
