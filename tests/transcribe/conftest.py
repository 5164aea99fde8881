from __future__ import annotations

import pytest
from model_fixtures import energy_vad, scripted, tiny, visit

__all__ = ["energy_vad", "scripted", "tiny", "visit"]


@pytest.fixture(autouse=True)
def energy_finds_speech(energy_vad):
    """Find speech by energy, whichever detectors are installed."""
