"""A worker function for worker processes, which find it by this module's name; an item's name decides what happens."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from lsa_whisper.errors import AudioError, CheckpointError


class Item(NamedTuple):
    """A task: its name, its cost, and the folder of the log."""

    name: str
    cost: float
    folder: Path


class TwoPartError(Exception):
    """An error that cannot be unpickled."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def items(folder, **costs):
    """Return numbered items."""
    return {number: Item(name, float(cost), folder) for number, (name, cost) in enumerate(costs.items())}


def work(item, report):
    with (item.folder / "log").open("a") as log:
        log.write(f"{item.name} {os.getpid()}\n")
    report(item.cost / 2)
    if item.name == "bad":
        raise AudioError(f"{item.name}: no sound")
    if item.name == "fatal":
        raise CheckpointError("no such model")
    if item.name == "defect":
        raise TwoPartError("not", "expected")
    if item.name.startswith("deadly") or (
        item.name.startswith("once") and read_log(item.folder)[0].count(item.name) == 1
    ):
        os.kill(os.getpid(), signal.SIGKILL)
    if item.name.startswith("long"):
        time.sleep(60)
    return item.name.upper()


def read_log(folder):
    """Return the names in the order in which they were started, and the ids of the processes that did so."""
    lines = [line.split() for line in Path(folder, "log").read_text().splitlines()]
    return [name for name, _ in lines], [int(pid) for _, pid in lines]
