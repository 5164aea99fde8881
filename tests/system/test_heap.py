import subprocess
import sys

import pytest

from lsa_whisper.system.heap import release_freed_memory

GAPS = """
import sys
from pathlib import Path
from lsa_whisper.system.heap import release_freed_memory

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
from lsa_whisper.system.heap import keep_heap

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
from lsa_whisper.system.heap import keep_heap, release_freed_memory

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
