"""A little of ``benchmarks/fuzz.py``, and the texts it once broke something with."""

import os

import pytest

from benchmarks.fuzz import TARGETS, run

EXAMPLES = int(os.environ.get("LSA_WHISPER_TEST_EXAMPLES", "1000")) // 20


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_breaks_what_reads_text(name):
    run(*TARGETS[name], EXAMPLES)
