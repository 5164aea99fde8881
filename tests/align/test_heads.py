"""Heads that follow the sound are found with their lags, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsa_whisper import checkpoint
from lsa_whisper.align import heads
from lsa_whisper.align.heads import LaggedHead, measure_heads, model_heads
from lsa_whisper.align.model import AlignmentModel

ROOT = Path(__file__).resolve().parents[2]
NANO = ROOT / "models" / "nano"


@pytest.fixture(scope="module")
def model():
    return AlignmentModel(checkpoint.load(NANO), language="en")


@pytest.mark.slow
def test_the_heads_that_follow_the_sound_are_found(model):
    found = measure_heads(model, ROOT / "corpora" / "storybook" / "dev" / "dev01.cha")
    assert {head.layer for head in found} <= {0, 2} and abs(found[0].lag) <= 3, "the best head is hardly late"
    assert all(abs(head.lag) <= 15 for head in found)


def test_heads_are_measured_once(model, monkeypatch):
    calls = []
    monkeypatch.setattr(heads, "measure_heads", lambda *_: calls.append(1) or [LaggedHead(1, 2, -3)])
    assert model_heads(model, NANO) == model_heads(model, NANO) == [LaggedHead(1, 2, -3)] and len(calls) == 1
