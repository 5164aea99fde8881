"""Work for workers of other processes, which find it by this module's name: quick, and deadly where a name says so."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError, CheckpointError
from lsa_whisper.transcribe.files.outcome import TranscribedFile
from lsa_whisper.transcribe.workers.scheduler import Task


def tasks(folder, **lengths_s):
    """Return numbered tasks; the recordings need not exist."""
    return {
        number: Task(Recording(folder / f"{name}.wav", float(length_s), 16_000, 1), folder / f"{name}.cha")
        for number, (name, length_s) in enumerate(lengths_s.items())
    }


def write(recording, target, say):
    name = target.stem
    with target.with_name("log").open("a") as log:
        log.write(f"{name} {os.getpid()}\n")
    say(recording.duration_s / 2)
    if name == "bad":
        raise AudioError(f"{recording.path}: no sound")
    if name == "hopeless":
        raise CheckpointError("no such model")
    if name.startswith("deadly") or (name.startswith("once") and log_of(target.parent)[0].count(name) == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("long"):
        time.sleep(60)
    target.write_text(name)
    return TranscribedFile(recording.path, target)


def log_of(folder):
    """Return the names in the order in which they were begun, and the ids of the processes that did so."""
    lines = [line.split() for line in Path(folder, "log").read_text().splitlines()]
    return [name for name, _ in lines], [int(pid) for _, pid in lines]
