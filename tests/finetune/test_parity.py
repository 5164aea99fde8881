"""The claim of ``benchmarks/parity.py``: every strategy trains, and saves, what one plain process does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from benchmarks import parity
from lsa_whisper.finetune import zero

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed"),
]

SAME_LOSS, SAME_WEIGHTS, SAME_LOGITS = 1e-4, 1e-3, 1e-3
"""Adam divides by the gradient's size, so where a gradient is nearly nought its rounding is a step; losses agree."""


def has_libaio():
    from deepspeed.ops.op_builder import AsyncIOBuilder

    return zero.can_compile() and AsyncIOBuilder().is_compatible()


def test_every_strategy_takes_the_same_steps_and_saves_the_same_model(tmp_path, monkeypatch):
    """DeepSpeed's parts are built once for each checkout: a lock that a killed build left elsewhere would hang this."""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(Path("build/torch_extensions").resolve()))
    monkeypatch.setenv("DS_ACCELERATOR", "cpu")
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    found = list(parity.rows(tmp_path, nvme=has_libaio()))
    assert len(found) >= 2 * (len(parity.ONE_PROCESS) + len(parity.TWO_PROCESSES) - 1)
    for row in found:
        assert row["max_abs_loss_difference"] < SAME_LOSS, row
        assert row["max_abs_weight_difference"] < SAME_WEIGHTS, row
        assert row["max_abs_logit_difference"] < SAME_LOGITS, row
