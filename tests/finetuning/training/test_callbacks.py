from __future__ import annotations

import pytest
import torch

from lsa_whisper.finetuning.training.callbacks import MAX_STEPS, RankExchange


class TwoRanks:
    """The other rank has a number of its own, and steps that may take longer."""

    num_processes, device = 2, "cpu"

    def __init__(self, number=0, step_ms=0):
        self.number, self.step_ms, self.exchanges = number, step_ms, 0

    def gather(self, own):
        self.exchanges += 1
        return torch.cat((own, torch.tensor([self.number, self.step_ms])))


@pytest.mark.parametrize(
    ("own_s", "other_ms", "every"), [(0.1, 0, 5), (0.1, 250, 2), (3.0, 0, 1), (0.001, 1, MAX_STEPS)]
)
def test_ranks_exchange_about_twice_a_second_and_the_slowest_decides(monkeypatch, own_s, other_ms, every):
    now = [10.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    others, steps = TwoRanks(7, other_ms), []
    exchange = RankExchange(others)
    for step in range(1, 3 + 3 * every):
        now[0] += own_s
        if exchange.largest(3) == 7:
            steps.append(step)
    assert steps == [1, 2, 2 + every, 2 + 2 * every, 2 + 3 * every][: len(steps)] and len(steps) >= 4


def test_the_largest_number_counts():
    exchange = RankExchange(TwoRanks(number=2))
    assert [exchange.largest(5), exchange.largest(0)] == [5, 2]
