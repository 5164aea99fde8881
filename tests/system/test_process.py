"""Freed memory is given back or kept; the search for garbage rests and resumes, also after an error; Ctrl-C is not
lost; a rank ends with the status of its command."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from lsa_whisper.system.process import release_freed_memory, without_collector

GAPS = """
import sys
from pathlib import Path
from lsa_whisper.system.process import release_freed_memory

def resident_kib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

blocks = [bytes(100_000) for _ in range(500)]  # 50 MB, smaller than what the C library maps one by one
kept = blocks[::50]
full = resident_kib()
del blocks
release_freed_memory()
print(full - resident_kib())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the heap of glibc")
def test_pages_between_blocks_in_use_go_back_to_the_system():
    ran = subprocess.run([sys.executable, "-c", GAPS], check=True, capture_output=True, text=True)
    assert int(ran.stdout) > 30_000


HEAPS = """
import ctypes, sys, threading
from lsa_whisper.system.process import keep_heap

if sys.argv[1] == "kept":
    keep_heap()
ready = threading.Barrier(8)
def allocate():
    kept = bytes(10_000)
    ready.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the heaps of glibc")
def test_threads_keep_heap_when_told():
    heaps = {}
    for way in ("apart", "kept"):
        ran = subprocess.run([sys.executable, "-c", HEAPS, way], check=True, capture_output=True, text=True)
        heaps[way] = ran.stderr.count("Arena ")
    assert heaps["kept"] == 1 < heaps["apart"]


FAULTS = """
import resource, sys
import numpy as np
from lsa_whisper.system.process import keep_heap, release_freed_memory

if sys.argv[1] == "kept":
    keep_heap()
def compute():
    for _ in range(20):
        np.ones(5_000_000)  # 40 MB, as large as what one layer computes
    release_freed_memory()
compute()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
compute()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the heap of glibc")
def test_a_kept_heap_gives_the_same_pages_again():
    faults = {}
    for way in ("plain", "kept"):
        ran = subprocess.run([sys.executable, "-c", FAULTS, way], check=True, capture_output=True, text=True)
        faults[way] = int(ran.stdout)
    assert faults["kept"] < 1000 < faults["plain"]


def test_it_may_be_called_at_any_time():
    release_freed_memory()
    release_freed_memory()


@pytest.mark.parametrize("keep", [False, True])
def test_the_search_goes_on_afterwards(keep):
    with pytest.raises(ValueError), without_collector(keep=keep):
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()
    gc.unfreeze()


def test_a_search_that_rests_already_is_not_begun():
    gc.disable()
    try:
        with without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


INTERRUPTED = """
import signal, sys, time, weakref
from lsa_whisper.system.process import repeat_lost_interrupts

signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[1] == "repeated":
    repeat_lost_interrupts()
class Owner: ...
owner = Owner()
watched = weakref.ref(owner, lambda _: signal.raise_signal(signal.SIGINT))
del owner
try:
    time.sleep(60 if sys.argv[1] == "repeated" else 1)
    print("went on")
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize(("way", "said"), [("plain", "went on"), ("repeated", "stopped")])
def test_an_interrupt_inside_a_callback_is_not_lost(way, said):
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED, way], check=True, capture_output=True, text=True)
    assert ran.stdout == f"{said}\n"
    assert bool(ran.stderr) == (way == "plain")


PROGRAM = """
import os, sys
from lsa_whisper.cli import main

class Thread:
    def __del__(self, abort=os.abort):
        abort()

sys.released_late = Thread()
main()
"""
RANK = {"RANK": "0", "WORLD_SIZE": "2"}


def ended(arguments, **environment):
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments, status, said",
    [(["--version"], 0, "lsa-whisper, version"), (["inspect", "absent.cha"], 1, "absent.cha")],
)
def test_a_rank_ends_with_its_status(arguments, status, said):
    done = ended(arguments, **RANK)
    assert done.returncode == status
    assert said in done.stdout + done.stderr
    assert ended(arguments).returncode < 0, "this program aborts while Python is finalized"
