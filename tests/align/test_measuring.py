"""Heads that follow the sound are found with their lags, and kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lsa_whisper import checkpoint
from lsa_whisper.align import measuring
from lsa_whisper.align.measuring import KnownRecording, measure_heads, model_heads
from lsa_whisper.align.model import AlignmentHeads, AlignmentModel, LaggedHead
from lsa_whisper.labels import Labels

ROOT = Path(__file__).resolve().parents[2]
NANO = ROOT / "models" / "nano"
DEV = ROOT / "corpora" / "storybook" / "dev"


@pytest.fixture(scope="module")
def model():
    return AlignmentModel(checkpoint.load(NANO), language="en")


@pytest.mark.slow
def test_the_heads_that_follow_the_sound_are_found(model):
    found = measure_heads(model, DEV / "dev01.cha")
    assert {head.layer for head in found.heads} <= {0, 2}
    assert all(abs(head.lag) <= 15 for head in found.heads)
    assert found.labels == Labels("verbatim"), "nano learned from cleaned transcripts, and does not know signs"
    errors = KnownRecording(model, DEV / "dev02.cha", found.labels).errors_ms(found.heads)
    assert np.mean(np.abs(errors) <= 200) > 0.9, "they follow a recording that they were not chosen on"


def test_heads_are_measured_once(model, monkeypatch):
    calls = []
    heads = AlignmentHeads((LaggedHead(1, 2, -3),), Labels("chat", version=2))
    monkeypatch.setattr(measuring, "measure_heads", lambda *_: calls.append(1) or heads)
    assert model_heads(model, NANO) == model_heads(model, NANO) == heads and len(calls) == 1
