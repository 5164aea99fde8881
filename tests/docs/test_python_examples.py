"""The examples of docs/reference/python.md, run one after another."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from pages import ROOT, text_of

EXAMPLES = re.findall(r"^```python\n(.*?)^```$", text_of("docs/reference/python.md"), re.MULTILINE | re.DOTALL)


def test_there_are_examples_of_every_kind():
    assert len(EXAMPLES) == 6


@pytest.mark.slow(minutes=0.5)
def test_the_examples_of_the_python_page_run(tmp_path):
    for folder in ("corpora", "models"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(EXAMPLES)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "test01.cha").exists() and (tmp_path / "runs" / "mine" / "model.safetensors").exists()
    for printed in ("word error rate", "typical disfluencies", "filled_pause", "Prepared in", "runs/mine 20 "):
        assert printed in done.stdout, printed
