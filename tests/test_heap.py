"""One heap for all threads: counted by glibc itself, in new processes."""

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_info is part of glibc")

_COUNT = """
import ctypes, sys, tempfile, threading
from lsa_whisper.heap import share_one_heap
if sys.argv[1] == "shared":
    print(share_one_heap())
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
c.fopen.restype = ctypes.c_void_p
together = threading.Barrier(4)
def allocate():
    together.wait()
    c.malloc(100)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(4)]
[each.start() for each in threads]
[each.join() for each in threads]
with tempfile.NamedTemporaryFile() as found:
    file = ctypes.c_void_p(c.fopen(found.name.encode(), b"w"))
    c.malloc_info(0, file)
    c.fclose(file)
    print(found.read().count(b"<heap "))
"""


def heaps(mode: str, **environment: str) -> list[str]:
    """Return what a new process with five threads prints: whether it shares a heap, and how many heaps it has."""
    run = [sys.executable, "-c", _COUNT, mode]
    plain = {name: value for name, value in os.environ.items() if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")}
    return subprocess.run(run, env=plain | environment, check=True, capture_output=True, text=True).stdout.split()


def test_threads_share_one_heap() -> None:
    assert heaps("shared") == ["True", "1"]
    (separate,) = heaps("separate")
    assert int(separate) > 1


def test_the_users_choice_is_kept() -> None:
    said, count = heaps("shared", MALLOC_ARENA_MAX="3")
    assert said == "False"
    assert 1 < int(count) <= 3
