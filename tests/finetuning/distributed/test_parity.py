"""The claim of ``benchmarks/parity.py``: every strategy trains, and saves, what one plain process does."""

from __future__ import annotations

import importlib.util
import re

import pytest

from benchmarks import parity

pytestmark = [
    pytest.mark.slow(minutes=8),
    pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed"),
]

LIMITS = {"fp32": 1e-4, "bf16": 2e-2}
"""Adam divides by the gradient's size, so where a gradient is nearly nought its rounding is a step; losses agree. In
bf16, micro-batches of another size alone change losses by 8e-4, weights by 2e-3 and logits by 2e-3."""

STEPS = 8
"""More than two epochs of three steps; the benchmark takes twenty."""
FEW = "^(ddp|fsdp2|zero2|zero3)$"
"""Those that compute in bf16 each in their own way: the benchmark has all in both precisions, in half an hour."""


@pytest.mark.parametrize(("precision", "only"), [("fp32", ""), ("bf16", FEW)])
def test_every_strategy_takes_the_same_steps_and_saves_the_same_model(tmp_path, monkeypatch, precision, only):
    parity.build_here(monkeypatch.setenv)
    found = list(parity.rows(tmp_path, nvme=parity.has_nvme(), only=only, precisions=[precision], steps=STEPS))
    names = [*parity.ONE_PROCESS, *(name for names in parity.TOGETHER.values() for name in names)]
    wanted = [name for name in names if re.search(only, name) and (parity.has_nvme() or "nvme" not in name)]
    assert len(found) == 2 * len(wanted) > 0
    limit = LIMITS[precision]
    for row in found:
        assert row["max_abs_loss_difference"] < limit, row
        assert row["max_abs_weight_difference"] < limit, row
        assert row["max_abs_logit_difference"] < limit, row
        assert (row["max_abs_master_difference"] == 0) == row["strategy"].startswith("zero"), row
