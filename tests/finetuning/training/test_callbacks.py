from __future__ import annotations

from types import SimpleNamespace

import torch

from lsa_whisper.finetuning.training.callbacks import largest_of_ranks


def test_the_largest_number_counts():
    ranks = SimpleNamespace(num_processes=2, device="cpu", gather=lambda own: torch.cat((own, torch.tensor([2]))))
    assert [largest_of_ranks(ranks, own) for own in (5, 0)] == [5, 2]
