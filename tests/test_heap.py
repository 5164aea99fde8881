import subprocess
import sys

import pytest

from lsa_whisper.heap import release_freed_memory

GAPS = """
import sys
from pathlib import Path
from lsa_whisper.heap import release_freed_memory

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


def test_it_may_be_called_at_any_time():
    release_freed_memory()
    release_freed_memory()
