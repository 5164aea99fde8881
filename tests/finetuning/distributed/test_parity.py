"""The claim of ``benchmarks/parity.py``: every strategy trains, and saves, what one plain process does."""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks import parity

pytestmark = [
    pytest.mark.slow(minutes=14),
    pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed"),
]

LIMITS = {"fp32": 1e-4, "bf16": 2e-2}
"""Adam divides by the gradient's size, so where a gradient is nearly nought its rounding is a step; losses agree. In
bf16, micro-batches of another size alone change losses by 8e-4, weights by 2e-3 and logits by 2e-3."""


def test_every_strategy_takes_the_same_steps_and_saves_the_same_model(tmp_path, monkeypatch):
    parity.build_here(monkeypatch.setenv)
    found = list(parity.rows(tmp_path, nvme=parity.has_nvme()))
    names = [*parity.ONE_PROCESS, *(name for names in parity.TOGETHER.values() for name in names)]
    assert len(found) == 2 * len(LIMITS) * sum(parity.has_nvme() or "nvme" not in name for name in names)
    for row in found:
        limit = LIMITS[row["precision"]]
        assert row["max_abs_loss_difference"] < limit, row
        assert row["max_abs_weight_difference"] < limit, row
        assert row["max_abs_logit_difference"] < limit, row
        assert (row["max_abs_master_difference"] == 0) == row["strategy"].startswith("zero"), row
