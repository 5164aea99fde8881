"""Data workers under temporary folders with long names."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_data_workers_return_tensors_where_the_temporary_folder_has_a_long_name(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    program = (
        "from torch import arange\nfrom torch.utils.data import DataLoader\n"
        "from lsa_whisper.finetuning.training.data_workers import shorten_socket_paths\n"
        "shorten_socket_paths()\nprint(sum(int(each.sum()) for each in DataLoader(arange(4), num_workers=1)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"TMPDIR": str(folder)}, capture_output=True, timeout=100
    )
    assert done.stdout.split() == [b"6"] and not done.stderr
