from __future__ import annotations

import pytest
import torch
from model_fixtures import energy_vad, scripted, tiny, visit

__all__ = ["energy_vad", "scripted", "tiny", "visit"]


@pytest.fixture(autouse=True)
def energy_finds_speech(energy_vad):
    """Find speech by energy, whichever detectors are installed."""


@pytest.fixture
def set_threads():
    """Sets torch's number of threads, and so how many batches CTranslate2 decodes at the same time."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
