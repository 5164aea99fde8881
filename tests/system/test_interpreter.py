"""The search for garbage rests and resumes, also after an error; a rank ends with the status of its command."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from lsa_whisper.system.interpreter import without_collector


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
