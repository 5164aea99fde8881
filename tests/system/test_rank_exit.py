"""The end of a rank: the status of its command, whatever happens while Python would be finalized."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
