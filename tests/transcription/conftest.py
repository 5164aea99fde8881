from __future__ import annotations

import pytest
from model_fixtures import energy_vad, scripted, tiny, visit

from lsa_whisper.transcription import Transcriber

__all__ = ["energy_vad", "scripted", "tiny", "visit"]


@pytest.fixture(autouse=True)
def energy_finds_speech(energy_vad):
    """Find speech by energy, whichever detectors are installed."""


@pytest.fixture
def decoded(monkeypatch):
    """Names of the recordings that were really decoded."""
    names, original = [], Transcriber.transcribe_with_scores

    def counted(self, recording, **options):
        names.append(recording.path.name)
        return original(self, recording, **options)

    monkeypatch.setattr(Transcriber, "transcribe_with_scores", counted)
    return names
