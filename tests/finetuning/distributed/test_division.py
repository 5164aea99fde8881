"""The end of a run of several ranks."""

from __future__ import annotations

import pytest
from rank_work import end_run_after_run, run_ranks

RUNS = 40
LIMIT_S = 300


@pytest.mark.slow
def test_ranks_end_although_the_model_outlives_the_group():
    """A model under DDP owns the group, too; if it went last, it would wait for gloo's threads, and they for it."""
    run_ranks(end_run_after_run, 2, RUNS, LIMIT_S, trainings=RUNS)
